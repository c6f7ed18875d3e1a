"""Where OPI_Alloc and OPI_Free go, and the edits that put them there."""
