/* Behind free the pointer is NULL: a test finds that, and guards an access. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N];

int main(int argc, char **argv)
{
    int rank, found = 0;
    double total = 0.0, *in = malloc(N * sizeof *in);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        MPI_Send(u, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI205
        for (int i = 0; i < N; i++)
            total += in[i];
    }
    free(in);
    in = NULL;
    if (in && in[0] > 0)
        found++;
    printf("%d: %.17g %d\n", rank, total, found);
    MPI_Finalize();
    return 0;
}
