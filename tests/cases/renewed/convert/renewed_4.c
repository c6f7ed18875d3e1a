/* How long either message is, only the command line tells; the scratch values after the receive go nowhere. */
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
    int few = SHORT - argc, many = LONG - 2 * argc;
    if (few < 50 || many < 50)
        return 1;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Send(u, few, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
        MPI_Recv(work, few, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(work)
        for (int i = 0; i < few; i++)
            v[i] += work[i];
        for (int i = 0; i < many; i++)
            work[i] = v[i] + turn;
        for (int i = many - 1; i >= 0; i--)
            u[i] = work[i] * 0.5;
    }
    for (int i = 0; i < LONG; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
