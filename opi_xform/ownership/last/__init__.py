"""Sends with which the life of a block ends."""
