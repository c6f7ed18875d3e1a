/* Whether the message is there is asked for, and its buffer is used when it was waited for. */
#include <mpi.h>
#include <stdio.h>

static double in[300], u[300];

static void turn(int to, int from)
{
    MPI_Request q;
    int there = 0;
    MPI_Irecv(in, 300, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &q); //~ take(in)
    MPI_Send(u, 300, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
    while (!there)
        MPI_Request_get_status(q, &there, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < 300; i++)
        u[i] += in[i] / 8;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 300; i++)
        u[i] = i + 100 * rank;
    for (int step = 0; step < 3; step++)
        turn((rank + 1) % size, (rank + size - 1) % size);
    double sum = 0;
    for (int i = 0; i < 300; i++)
        sum += u[i] * (i + 1);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
