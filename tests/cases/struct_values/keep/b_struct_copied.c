/* The struct that holds the pointer is copied while the request is pending;
 * the copy is used afterwards. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N];

struct link {
    double *in;
    int peer;
};

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct link a = { malloc(N * sizeof(double)), 1 - rank }, b;
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    MPI_Irecv(a.in, N, MPI_DOUBLE, a.peer, 7, MPI_COMM_WORLD, &rq); //~ keep
    MPI_Send(sbuf, N, MPI_DOUBLE, a.peer, 7, MPI_COMM_WORLD);
    b = a;
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = b.in[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(b.in);
    MPI_Finalize();
    return 0;
}
