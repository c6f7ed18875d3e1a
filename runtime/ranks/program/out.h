/* out.h - what a rank prints. */
#ifndef OPIR_OUT_H
#define OPIR_OUT_H

#include "ranks/base/ranks.h"

#pragma GCC visibility push(hidden)
void opir_out_end(struct opir_rank *r); /* the rank prints nothing more */
#pragma GCC visibility pop

#endif
