/* check.h - what the engine's tests share: assertions that abort the job with a line, and patterns to fill buffers with. */
#ifndef OPI_CHECK_H
#define OPI_CHECK_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <opi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

#define CHECK(x)                                                                              \
    do {                                                                                      \
        if (!(x)) {                                                                           \
            fprintf(stderr, "rank %d: %s:%d: %s does not hold\n", rank, __FILE__, __LINE__, #x); \
            fflush(stderr);                                                                   \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                     \
            _exit(9);                                                                         \
        }                                                                                     \
    } while (0)

static inline void fill(int *b, int n, int from) {
    for (int i = 0; i < n; i++)
        b[i] = from + i;
}

static inline int same(const int *b, int n, int from) {
    for (int i = 0; i < n; i++)
        if (b[i] != from + i)
            return 0;
    return 1;
}

static inline void start(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline int finish(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("ok");
    MPI_Finalize();
    return 0;
}
#endif
