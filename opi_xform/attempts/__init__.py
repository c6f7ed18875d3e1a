"""Other texts of the program that may convert more: one file a kind."""
