/* The only pointer to the block is set to something else while the request is
 * pending; a saved one is used afterwards. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    double *in = malloc(N * sizeof(double)), *saved;
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    MPI_Irecv(in, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq); //~ keep OPI206
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD);
    saved = in;
    in = NULL;
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = saved[i] + (in == NULL);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(saved);
    MPI_Finalize();
    return 0;
}
