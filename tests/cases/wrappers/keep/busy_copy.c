/* A wrapper copies what it is given into the memory, and half of it is sent so. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2048

static double u[N], v[N];
static int calls;
static double *get(const double *from)
{
    double *p = malloc(N * sizeof *p);
    if (!p)
        abort();
    memcpy(p, from, N * sizeof *p);
    calls++;
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *b = get(u);
    double *r = get(u);
    if (rank == 0) {
        for (int i = 0; i < N / 2; i++)
            b[i] = u[i] + 1;
        MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
        b[0] = 0.0;
    } else if (rank == 1) {
        MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(r)
        for (int i = 0; i < N; i++)
            v[i] += r[i];
    }
    free(b);
    free(r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
