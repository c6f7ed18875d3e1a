"""From the tree of a function to instructions, one effect each."""
