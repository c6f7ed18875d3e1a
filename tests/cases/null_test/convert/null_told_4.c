/* The error code goes up two functions, and is forgiven there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *b;

static int get(size_t n)
{
    b = malloc(n);
    return b == NULL ? -2 : 0;
}

static int setup(size_t n)
{
    int rc = get(n);
    if (rc)
        return rc - 1;
    return 0;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 0;
    int n = 1000, rc = setup((size_t)-1 / (argc < 9 ? 16 : 1 << 20));
    if (rc != 0)
        rc = setup(1000 * sizeof *b);
    if (rc)
        exit(1);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(b)
    } else if (rank == 1) {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (int i = 0; i < n; i++)
            x += b[i];
    }
    printf("%d %g\n", rank, x);
    free(b);
    MPI_Finalize();
    return 0;
}
