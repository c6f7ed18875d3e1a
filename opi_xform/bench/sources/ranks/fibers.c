/* Fibers: nanoseconds of processor time of a switch, of a message, of a barrier; linked with libopi_ranks.  One argument says what is measured. */
#include <mpi.h>
#include <opix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 65536, ROUNDS = 7 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v) {
    qsort(v, ROUNDS, sizeof *v, by_value);
    return v[ROUNDS / 2];
}

static void switches(int rank, int size) {
    double v[ROUNDS];
    for (int k = 0; k < ROUNDS; k++) {
        int n = 2000000 / size;
        double t = now();
        for (int i = 0; i < n; i++)
            MPIX_Yield();
        v[k] = (now() - t) / n / size;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("switch %d %.2f\n", size, median(v));
}

/* A message each way in turn, and what memcpy takes for the same: of the same two pairs of buffers, one after the other.  One pair of 32 KiB would stay in
 * the first-level cache in part, where two do not.  What a message takes more is the median of the rounds, in each of which both are measured. */
static void messages(int rank, int bytes) {
    static char *outs[2], *ins[2]; /* fibers share it */
    double v[ROUNDS], over[ROUNDS];
    char *memory = aligned_alloc(4096, 2 * MOST + 8192), *out = memory, *in = memory + MOST + 2048; /* not alike modulo a page: that is slow */
    outs[rank] = out;
    ins[rank] = in;
    memset(out, 1, MOST);
    memset(in, 2, MOST);
    int n = bytes > 4096 ? 20000 : 200000;
    for (int k = 0; k < ROUNDS; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t = now();
        for (int i = 0; i < n; i++) {
            if (rank == 0)
                MPI_Send(out, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1)
                MPI_Send(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
        v[k] = (now() - t) / n / 2;
        MPI_Barrier(MPI_COMM_WORLD);
        t = now();
        for (int i = 0; rank == 0 && i < 2 * n; i++) {
            memcpy(ins[1 - i % 2], outs[i % 2], (size_t)bytes);
            __asm__ volatile("" : : : "memory");
        }
        over[k] = v[k] - (now() - t) / n / 2;
    }
    if (rank == 0)
        printf("message %d %.1f %.1f\n", bytes, median(v), median(over));
    MPI_Barrier(MPI_COMM_WORLD); /* rank 0 copies between the buffers of both */
    free(memory);
}

static void barriers(int rank, int size) {
    double v[ROUNDS];
    for (int k = 0; k < ROUNDS; k++) {
        double t = now();
        for (int i = 0; i < 500; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        v[k] = (now() - t) / 500;
    }
    if (rank == 0)
        printf("barrier %d %.0f\n", size, median(v));
}

static void life(int rank, int size) {
    int x = rank ? 0 : 7;
    long mine = rank, sum = 0;
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (x != 7 || (rank == 0 && sum != (long)size * (size - 1) / 2))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "switch") == 0)
        switches(rank, size);
    else if (strcmp(what, "message") == 0)
        for (int bytes = 0; bytes <= MOST; bytes = bytes ? bytes * 8 : 8)
            messages(rank, bytes);
    else if (strcmp(what, "barrier") == 0)
        barriers(rank, size);
    else
        life(rank, size);
    MPI_Finalize();
    return 0;
}
