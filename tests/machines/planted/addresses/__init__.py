"""Planted bugs in where addresses are kept and how they come back."""
