"""Messages that begin at a computed place in a buffer."""
