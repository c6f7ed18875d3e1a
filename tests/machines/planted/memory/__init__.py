"""Planted bugs in what is known of memory: who allocates, fills and changes it, and how long it lives."""
