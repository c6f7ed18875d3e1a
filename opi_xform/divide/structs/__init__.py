"""Arrays in structs as variables; structs by value as addresses."""
