/* A send that stays is still pending when the block would be given away. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int *made(int n, int k)
{
    int *c = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        c[i] = k + i;
    return c;
}

int main(int argc, char **argv)
{
    int rank, n = 50000, *a;
    long s = 0;
    MPI_Request rq[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = made(n, rank);
    if (rank == 0) {
        MPI_Isend(a, n, MPI_INT, 1, 0, MPI_COMM_WORLD, &rq[0]); //~ keep
        MPI_Isend(a, n, MPI_INT, 1, 1, MPI_COMM_WORLD, &rq[1]); //~ keep
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        free(a);
    } else {
        for (int tag = 1; tag >= 0 && rank == 1; tag--) {
            MPI_Recv(a, n, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            s += a[n - 1];
            a[n - 1] = 7;
        }
        free(a);
    }
    printf("%d %ld\n", rank, s);
    MPI_Finalize();
    return 0;
}
