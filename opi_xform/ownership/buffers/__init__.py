"""Which uses name one buffer: variables, members, tables, rows."""
