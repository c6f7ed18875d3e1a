"""Where a carrier's memory comes from and goes to, and how large it is."""
