/*
 * init: time of MPI_Init and of MPI_Finalize, the longest of all ranks. One sample a run.
 *
 *   mpiexec -n 2 ./init
 */
#include "bench.h"

int main(int argc, char **argv)
{
    double t[2], most[2];

    bench_name = "init";
    t[0] = bench_now();
    MPI_Init(&argc, &argv);
    t[0] = bench_now() - t[0];
    MPI_Comm_rank(MPI_COMM_WORLD, &bench_rank);
    MPI_Reduce(&t[0], &most[0], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    t[1] = bench_now();
    MPI_Finalize();
    most[1] = bench_now() - t[1];
    if (bench_rank == 0) {
        printf("init bytes=0 point=MPI_Init median_us=%.1f\n", most[0]);
        printf("init bytes=0 point=MPI_Finalize median_us=%.1f\n", most[1]);
        printf("init wrong=0\n");
    }
    return 0;
}
