"""Pointers and numbers that nobody set on some of the paths that meet."""
