"""What deciding rests on: what a condition is, the facts, the agreement of buffers that share a site."""
