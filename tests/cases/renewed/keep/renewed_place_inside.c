/* A pointer to a place inside the buffer is older than the longer message, and used after it is packed. */
#include <mpi.h>
#include <stdio.h>

#define SHORT 300
#define LONG 900

static double u[LONG], v[LONG];
static double work[LONG];

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
    double *middle = work + LONG / 2;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Send(u, SHORT, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
        MPI_Recv(work, SHORT, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        for (int i = 0; i < SHORT; i++)
            v[i] += work[i];
        for (int i = 0; i < LONG; i++)
            work[i] = v[i] + turn;
        for (int i = 0; i < 40; i++)
            u[i] = middle[i];
    }
    for (int i = 0; i < LONG; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
