/* A warning, and on without the message: there is no memory for so much, and the call still says so. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void *ask(size_t n)
{
    void *p = malloc(n);
    if (!p)
        fprintf(stdout, "no memory\n");
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 0, *b = ask((size_t)-1 / (argc < 9 ? 16 : 1 << 20));
    int n = 1000;
    if (!b) {
        x = 5;
    } else {
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(b)
    } else if (rank == 1) {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (int i = 0; i < n; i++)
            x += b[i];
    }
    }
    printf("%d %g\n", rank, x);
    free(b);
    MPI_Finalize();
    return 0;
}
