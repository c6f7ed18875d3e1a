/* The count is a number of its own, asked for in bytes; the work in between goes by other pointers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N];

int main(int argc, char **argv)
{
    int rank;
    long block = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&block, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    size_t bytes = 2 * block * sizeof(double);
    double *work_in = (double *)malloc(bytes);
    double *work_out = work_in + block;
    for (int step = 0; step < 3; step++) {
        double *p = work_out;
        for (long i = 0; i < block; i++)
            *p++ = u[i] + step;
        if (rank == 0) {
            MPI_Send(work_out, block, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(work_out)
            MPI_Recv(work_in, block, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(work_in)
        } else {
            MPI_Recv(work_in, block, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(work_in)
            MPI_Send(work_out, block, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD); //~ give(work_out)
        }
        const double *q = work_in;
        for (long i = 0; i < block; i++)
            u[i] += q[i];
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(work_in);
    MPI_Finalize();
    return 0;
}
//~ points 4
