"""Headers that files begin with, parsed once for all files of a program."""
