/* unit.h - assertions of the unit tests, which look at the library's inside and need no MPI job. */
#ifndef OPI_UNIT_H
#define OPI_UNIT_H
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x)                                                             \
    do {                                                                     \
        if (!(x)) {                                                          \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #x); \
            exit(1);                                                         \
        }                                                                    \
    } while (0)
#endif
