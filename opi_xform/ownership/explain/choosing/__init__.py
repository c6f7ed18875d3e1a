"""Which reason is told first, and what is told besides."""
