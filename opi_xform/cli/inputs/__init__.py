"""What a run is given: files, flags, comments for it."""
