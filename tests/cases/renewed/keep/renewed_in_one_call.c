/* In one of its calls the function packs over all that is there, in the other one over half of it. */
#include <mpi.h>
#include <stdio.h>

#define SHORT 300
#define LONG 900

static double u[LONG], v[LONG];
static double work[LONG];

static void fill(int first, int turn)
{
    for (int i = first; i < LONG; i++)
        work[i] = u[i] + turn;
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
    for (int turn = 0; turn < 3; turn++) {
        MPI_Send(u, SHORT, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
        MPI_Recv(work, SHORT, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI216
        for (int i = 0; i < SHORT; i++)
            v[i] += work[i];
        if (turn == 1)
            fill(0, turn);
        else
            fill(SHORT, turn);
        MPI_Send(work, LONG, MPI_DOUBLE, to, 2, MPI_COMM_WORLD);
        MPI_Recv(u, LONG, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < LONG; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
