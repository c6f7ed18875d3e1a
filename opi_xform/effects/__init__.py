"""What library and MPI functions do to memory, read from ``analyses/``."""
