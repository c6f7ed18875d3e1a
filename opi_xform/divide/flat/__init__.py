"""Tables of rows in one block, as the block alone."""
