/* A program that exits with 0 where there is no memory has an answer, and a function that runs at its end to give it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int done;

static void last_words(void)
{
    printf("done: %d\n", done);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    int rank, n = 1000;
    double x = 0, *b;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    atexit(last_words);
    b = malloc((size_t)-1 / (argc < 9 ? 16 : 1 << 20));
    if (!b)
        exit(0);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(b) OPI105
    } else if (rank == 1) {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(b) OPI205
        for (int i = 0; i < n; i++)
            x += b[i];
    }
    done = 1;
    printf("%d %g\n", rank, x);
    free(b);
    return 0;
}
