"""The second way to a decision: the pattern tables, run backward over what happens to a buffer."""
