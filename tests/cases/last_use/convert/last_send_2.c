/* A function computes a result in memory of its own; rank 0 reads its own, the others send theirs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *compute(int rank, int n)
{
    double *r = malloc(n * sizeof *r);
    if (r == NULL) {
        fprintf(stderr, "no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < n; i += 1 + i % 2)
        r[i] = rank + 0.5 * i;
    for (int i = 2; i < n; i += 2)
        r[i] = r[i - 1] * 2;
    return r;
}

int main(int argc, char **argv)
{
    int rank, size, n = 400;
    double *local, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    local = compute(rank, n);
    if (rank == 0) {
        double *remote = malloc(n * sizeof *remote);
        for (int i = 0; i < n; i++)
            total += local[i];
        for (int w = 1; w < size; w++) {
            MPI_Recv(remote, n, MPI_DOUBLE, w, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n; i++)
                total += remote[i];
        }
        free(remote);
    } else {
        MPI_Send(local, n, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD); //~ give(local)
    }
    printf("%d %.17g\n", rank, total);
    free(local);
    MPI_Finalize();
    return 0;
}
