/* Milliseconds of MPI_Init, the longest of all ranks.  No libopi: it is preloaded, or not (make bench-init). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
    struct timespec a, b;
    int rank;
    free(malloc(100000));
    clock_gettime(CLOCK_MONOTONIC, &a);
    MPI_Init(&argc, &argv);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6, most = 0;
    MPI_Reduce(&ms, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%s %.2f\n", argc > 1 ? argv[1] : "MPI_Init", most);
    MPI_Finalize();
    return 0;
}
