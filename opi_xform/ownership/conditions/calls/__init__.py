"""Conditions about the call: its form, its size, whether it is reached, what is pending there."""
