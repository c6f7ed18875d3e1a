"""opicc: the MPI's own compiler plus libopi; finding and building the runtime."""
