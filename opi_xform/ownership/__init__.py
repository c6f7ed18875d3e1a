"""Which sites may pass ownership, and where the calls go: the program's IR in, a ``Plan`` out."""
