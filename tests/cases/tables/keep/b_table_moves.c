/* The table that holds the pointer is moved by realloc while the request is
 * pending. */
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
    double **table = malloc(sizeof *table);
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    table[0] = malloc(N * sizeof(double));
    MPI_Irecv(table[0], N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq); //~ keep
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD);
    table = realloc(table, 100000 * sizeof *table);
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = table[0][i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(table[0]);
    free(table);
    MPI_Finalize();
    return 0;
}
