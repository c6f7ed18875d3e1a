/* The function that allocates keeps in a number whether there is no memory, and ends the program by that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double *vector(int n)
{
    double *p = malloc(n * sizeof *p);
    int no = p == NULL;
    if (no) {
        printf("no memory\n");
        exit(1);
    }
    return p;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = vector(N);
    double *rbuf = vector(N);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * i;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += rbuf[i];
        printf("%d: %.17g\n", rank, total);
    }
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
