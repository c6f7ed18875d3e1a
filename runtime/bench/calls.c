/* Nanoseconds of single calls of libopi on one rank: what a message costs beyond the hand-off between cores.
 *
 * The smallest of many repetitions, so that other load on the machine does not count.  opi-bench measures the exchange between two ranks. */
#include <opi.h>
#include <stdio.h>
#include <time.h>

#define REPEATS 50
#define CALLS 10000

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

#define MEASURE(name, code)                               \
    do {                                                  \
        double best = 1e9;                                \
        for (int repeat = 0; repeat < REPEATS; repeat++) { \
            double t = now();                             \
            for (int i = 0; i < CALLS; i++) {             \
                code;                                     \
            }                                             \
            t = (now() - t) / CALLS;                      \
            if (t < best)                                 \
                best = t;                                 \
        }                                                 \
        printf("%-34s %6.1f ns\n", name, best);           \
    } while (0)

int main(int argc, char **argv) {
    double *a, *b;
    MPI_Request r[2];
    MPI_Init(&argc, &argv);
    MPI_Comm c = MPI_COMM_SELF;
    MEASURE("OPI_Alloc, OPI_Free", OPI_Alloc(&a, 2048); OPI_Free(&a));
    MEASURE("OPI_Itake, MPI_Cancel, MPI_Wait", OPI_Itake(&a, 256, MPI_DOUBLE, 0, 1, c, r); MPI_Cancel(r); MPI_Wait(r, MPI_STATUS_IGNORE));
    MEASURE("exchange with oneself, 2 KiB", OPI_Itake(&a, 256, MPI_DOUBLE, 0, 1, c, &r[0]); OPI_Alloc(&b, 2048);
            OPI_Igive(&b, 256, MPI_DOUBLE, 0, 1, c, &r[1]); MPI_Waitall(2, r, MPI_STATUSES_IGNORE); OPI_Free(&a));
    MPI_Finalize();
    return 0;
}
