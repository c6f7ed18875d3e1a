/* error.h - errors, and the lines that libopi prints (error.c). */
#ifndef OPI_ERROR_H
#define OPI_ERROR_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

int opi_raise(MPI_Comm comm, int class, const char *call, const char *format, ...) __attribute__((format(printf, 4, 5)));
int opi_raise_world(int class, const char *call, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void opi_uncovered(const char *call);
_Noreturn void opi_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void opi_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *opi_class_name(int class);

#pragma GCC visibility pop

#endif
