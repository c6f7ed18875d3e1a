"""Several messages in one buffer: where its parts do not touch, the source is rewritten to one buffer for each."""
