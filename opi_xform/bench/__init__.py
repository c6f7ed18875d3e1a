"""opi-bench: benchmarks of ownership passing against plain MPI."""
