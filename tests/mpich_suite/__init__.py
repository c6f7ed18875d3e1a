"""MPICH's own test suite with ranks that are threads or fibers: see run.py."""
