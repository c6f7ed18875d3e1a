"""Planted bugs in what counts as one buffer."""
