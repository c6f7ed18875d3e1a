"""Which uses name one buffer (variables, members, tables, rows), and how large their messages are."""
