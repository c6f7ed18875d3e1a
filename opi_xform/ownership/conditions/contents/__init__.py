"""Conditions about what is in the buffer: which bytes are needed after a hand-over."""
