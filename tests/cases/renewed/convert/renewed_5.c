/* One array is received into by a call that waits, unpacked, packed with a longer message by a function and sent. */
#include <mpi.h>
#include <stdio.h>

#define SHORT 300
#define LONG 900

static double u[LONG], v[LONG];

static void exchange(int to, int from, int turn)
{
    static double work[LONG];
    for (int i = 0; i < SHORT; i++)
        v[i] = u[i] + turn;
    MPI_Sendrecv(v, SHORT, MPI_DOUBLE, to, 1, work, SHORT, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(work)
    for (int i = 0; i < SHORT; i++)
        u[i] += work[i];
    for (int i = 0; i < LONG; i++)
        work[i] = u[i] * (turn + 1);
    MPI_Send(work, LONG, MPI_DOUBLE, to, 2, MPI_COMM_WORLD); //~ give(work)
    MPI_Recv(v, LONG, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

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
    for (int turn = 0; turn < 3; turn++)
        exchange(to, from, turn);
    for (int i = 0; i < LONG; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
