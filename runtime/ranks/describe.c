/* describe.c - the layout of a datatype, read from the MPI below, as libopi does it. */
#include "../src/describe.c" /* NOLINT(bugprone-suspicious-include) */
