"""Where ``MPI_PROC_NULL`` may come from (named assumption A2)."""
