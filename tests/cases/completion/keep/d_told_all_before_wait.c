/* All messages are known to be there, and the buffer of one is used, before they are waited for. */
#include <mpi.h>
#include <stdio.h>

static double in[300], u[300];

static void turn(int to, int from)
{
    MPI_Request q[2];
    int there = 0;
    MPI_Irecv(in, 300, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &q[1]); //~ keep(in) OPI206
    MPI_Isend(u, 300, MPI_DOUBLE, to, 1, MPI_COMM_WORLD, &q[0]);
    while (!there)
        MPI_Request_get_status_all(2, q, &there, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 300; i++)
        in[i] *= 3;
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
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
