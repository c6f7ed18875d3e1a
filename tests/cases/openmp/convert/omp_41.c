/* Each thread of a region runs all of its statements, by its number, between a send and the next. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

#define N 3000

static double u[N], got[N], in[N], out[N];

//~ flags -fopenmp

int main(int argc, char **argv)
{
    int rank, r;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                got[i] = in[i];
        }
#pragma omp parallel num_threads(2) private(r)
        {
            int c, me = omp_get_thread_num(), all = omp_get_num_threads();
            for (c = me; c < N; c += all)
                for (r = 0; r < 4; r++)
                    u[c] = u[c] + got[c] * r;
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
