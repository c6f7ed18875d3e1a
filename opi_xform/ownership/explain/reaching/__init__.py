"""Which lines a site can come to, and which can come to it: those that its reason may name."""
