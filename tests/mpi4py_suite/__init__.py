"""mpi4py's own test suite, with and without libopi preloaded: see run.py."""
