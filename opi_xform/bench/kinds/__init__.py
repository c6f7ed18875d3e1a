"""One file a benchmark that is more than a C program."""
