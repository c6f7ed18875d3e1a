"""Which bytes of an object are live, as integer sets."""
