"""Which request an operation has, and where it is complete."""
