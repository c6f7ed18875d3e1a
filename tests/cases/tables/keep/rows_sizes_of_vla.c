/* A table has as many rows as a number tells, and each has a size of its own, which nothing keeps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MOST 200

static double u[MOST], in[MOST];

static double run(int rank, int many)
{
    double sum = 0;
    double *rows[many];
    for (int d = 0; d < many; d++) {
        double *p = malloc((100 + 20 * d) * sizeof *p);
        for (int i = 0; i < 30; i++)
            p[i] = 1;
        rows[d] = p;
    }
    for (int t = 0; t < 3; t++)
        for (int d = 0; d < many; d++) {
            int n = 100 + 20 * d;
            for (int i = 0; i < n; i++)
                rows[d][i] = u[i] + t;
            if (rank == 0)
                MPI_Send(rows[d], n, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ keep(rows) OPI114
            else if (rank == 1)
                MPI_Recv(in, n, MPI_DOUBLE, 0, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += in[n - 1];
        }
    for (int d = 0; d < many; d++)
        free(rows[d]);
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MOST; i++)
        u[i] = i + 0.5;
    printf("%d %g\n", rank, run(rank, argc > 1 ? 2 : 3));
    MPI_Finalize();
    return 0;
}
