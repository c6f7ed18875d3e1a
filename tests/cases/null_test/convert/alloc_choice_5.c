/* Through a function that allocates or ends, in a function of their own, without braces around the assignment. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void *get(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

static double shift(int rank, int size, int n, int turns)
{
    double x = 1, *s = NULL, *r = NULL;
    if (turns > 0)
        s = rank + 1 < size ? get((size_t)n * sizeof *s) : NULL;
    if (turns > 0)
        r = rank > 0 ? get((size_t)n * sizeof *r) : NULL;
    for (int k = 0; k < turns; k++) {
        if (rank + 1 < size) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                s[i] = x + i;
            MPI_Send(s, n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD); //~ give(s)
        }
        if (rank > 0) {
            MPI_Recv(r, n, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < n; i++)
                x += r[i] * 0.001;
        }
    }
    free(r);
    free(s);
    return x;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double x = shift(rank, size, 200, 3);
    x += shift(rank, size, 100, argc - 1);
    printf("%d %.17g\n", rank, x);
    MPI_Finalize();
    return 0;
}
