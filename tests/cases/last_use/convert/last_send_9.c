/* What frees the blocks is a function that is given a void *. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release(void *memory)
{
    free(memory);
}

static double *join(double *a, int n, int more)
{
    double *all = malloc((n + more) * sizeof(double));
    memcpy(all, a, n * sizeof(double));
    for (int i = 0; i < more; i++)
        all[n + i] = i;
    return all;
}

int main(int argc, char **argv)
{
    int rank, n = 1000;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *a = malloc(n * sizeof(double)), *old;
    for (int i = 0; i < n; i++)
        a[i] = rank + i;
    for (int t = 0; t < 3; t++) {
        old = join(a, n, 10);
        release(a);
        a = old;
        n += 10;
    }
    if (rank == 0)
        MPI_Send(a, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
    else if (rank == 1) {
        static double in[1030];
        MPI_Recv(in, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int i = 0; i < n; i++)
            total += in[i] * (i + 1);
    }
    release(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
