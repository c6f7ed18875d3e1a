"""Memory: what pointers may point to, and which bytes of an object are read and written."""
