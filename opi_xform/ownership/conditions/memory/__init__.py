"""Conditions about the memory: who made it, what was promised of it, when it goes."""
