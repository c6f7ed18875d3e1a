typedef long ftnlen;
