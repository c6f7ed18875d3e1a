/* tune.h - settings (tune.c). */
#ifndef OPI_TUNE_H
#define OPI_TUNE_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

void opi_tune(void);
size_t opi_size_setting(const char *name, size_t otherwise);

#pragma GCC visibility pop

#endif
