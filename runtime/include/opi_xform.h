/* opi_xform.h - opi.h by a name of its own, for programs that have another opi.h. */
#include "opi.h" /* the one beside this file */
