/* While the longer message is packed, the end of the buffer is still being sent. */
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
    double last[20];
    for (int turn = 0; turn < 3; turn++) {
        MPI_Request r;
        for (int i = 0; i < 20; i++)
            work[LONG - 20 + i] = u[i] - turn;
        MPI_Issend(&work[LONG - 20], 20, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &r); //~ keep
        for (int i = 0; i < LONG - 20; i++)
            work[i] = u[i] + turn;
        for (int i = 0; i < LONG - 20; i++)
            v[i] += work[i] * 0.5;
        MPI_Recv(last, 20, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        v[turn] += last[turn];
        MPI_Send(u, SHORT, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
        MPI_Recv(work, SHORT, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        for (int i = 0; i < SHORT; i++)
            u[i] += work[i];
    }
    for (int i = 0; i < LONG; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
