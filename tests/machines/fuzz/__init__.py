"""Random MPI programs, each run as it is and transformed: the outputs must agree."""
