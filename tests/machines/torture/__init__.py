"""Random traffic under every MPI and setting, by the thousand: see run.py."""
