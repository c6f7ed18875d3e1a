show();
