"""Conditions about the buffer's address: who has it, and how it comes to a site."""
