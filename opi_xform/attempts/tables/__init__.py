"""Tables whose rows are messages: of a program, or made for it."""
