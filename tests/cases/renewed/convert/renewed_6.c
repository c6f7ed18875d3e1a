/* The same memory of malloc serves a short message that comes and a long one that goes, which is packed from its end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SHORT 300
#define LONG 900

static double u[LONG], v[LONG];

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < LONG; i++)
        u[i] = rank + 0.5 * i;
    double *b = malloc(LONG * sizeof *b);
    for (int turn = 0; turn < 4; turn++) {
        MPI_Send(u, SHORT, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
        MPI_Recv(b, SHORT, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (int i = 0; i < SHORT; i++)
            v[i] += b[i];
        {
            for (int i = LONG - 1; i >= 0; i--)
                b[i] = v[i] - turn;
            MPI_Send(b, LONG, MPI_DOUBLE, to, 2, MPI_COMM_WORLD); //~ give(b)
            MPI_Recv(u, LONG, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(b);
    for (int i = 0; i < LONG; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
