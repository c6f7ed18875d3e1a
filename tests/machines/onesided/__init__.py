"""Random one-sided programs, judged by a model of what the standard lets come out: see run.py."""
