"""Conditions about the program's text: what is edited, and who reads it."""
