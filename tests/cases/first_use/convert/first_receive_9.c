/* Each level of a recursion receives by way of a function that allocates, and has the block under two names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *arrival(int from, int tag)
{
    MPI_Status status;
    int n;
    MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &n);
    double *room = malloc(n * sizeof(double));
    MPI_Recv(room, n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &status); //~ take(room)
    return room;
}

static double deeper(const double *mine, int n, int depth, int to, int from)
{
    MPI_Request request;
    double total = 0.0, *one, *other;
    MPI_Isend(mine, n, MPI_DOUBLE, to, depth, MPI_COMM_WORLD, &request);
    one = arrival(from, depth);
    other = one;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        total += other[i] * (i % 5);
    free(other);
    return depth > 0 ? total + 0.5 * deeper(mine, n - 10, depth - 1, to, from) : total;
}

int main(int argc, char **argv)
{
    int rank, size, n = 400;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *mine = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        mine[i] = rank + 0.25 * i;
    printf("%d: %.17g\n", rank, deeper(mine, n, 4, (rank + 1) % size, (rank + size - 1) % size));
    free(mine);
    MPI_Finalize();
    return 0;
}
