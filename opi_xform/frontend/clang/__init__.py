"""What is read of libclang: its trees, types, names, and the bytes of files."""
