"""Which block a pointer stands for is not known: what is in the way, and where that is."""
