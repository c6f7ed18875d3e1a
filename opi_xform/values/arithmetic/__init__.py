"""Numbers of C: constants, floating numbers, and what is lost where one becomes another."""
