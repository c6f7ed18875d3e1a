"""What reasons advise, done to the source."""
