"""What liveness says of each use of a buffer."""
