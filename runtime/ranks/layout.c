/* layout.c - where the bytes of a datatype lie, as libopi has it: the two share this text, which knows nothing of either. */
#include "../src/layout.c" /* NOLINT(bugprone-suspicious-include) */
