/* Nonblocking, by either of two functions that made the block, and freed where there is one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static float *squares(int n)
{
    float *v;
    v = malloc(n * sizeof *v);
    for (int i = 0; i < n; i++)
        v[i] = i * i;
    return v;
}

static float *roots(int n, float *old)
{
    float *v = malloc(n * sizeof *v);
    for (int i = 0; i < n; i++)
        v[i] = old[i] / 2;
    if (old != NULL)
        free(old);
    return v;
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    float s = 0;
    MPI_Request rq;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        float *v = squares(n);
        if (t > 0)
            v = roots(n, v);
        if (rank == 0) {
            MPI_Isend(v, n, MPI_FLOAT, 1, t, MPI_COMM_WORLD, &rq); //~ give(v)
            MPI_Wait(&rq, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            float *in = malloc(n * sizeof *in);
            MPI_Recv(in, n, MPI_FLOAT, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n; i++)
                s += in[i] - v[i] + t;
            free(in);
        }
        if (v)
            free(v);
    }
    printf("%d %.9g\n", rank, s);
    MPI_Finalize();
    return 0;
}
