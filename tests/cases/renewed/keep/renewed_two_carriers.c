/* One function exchanges two buffers, whose longer messages it packs: what it frees of one may be live in the other. */
#include <mpi.h>
#include <stdio.h>

#define SHORT 300
#define LONG 900

static double u[LONG], v[LONG];
static double one[LONG], two[LONG];

static void take(double *b, int from, int turn)
{
    MPI_Send(u, SHORT, MPI_DOUBLE, from, 1, MPI_COMM_WORLD);
    MPI_Recv(b, SHORT, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI216
    v[turn] += b[turn];
}

static void put(double *b, int first, int turn)
{
    for (int i = first; i < LONG; i++)
        b[i] = v[i] + turn;
    for (int i = 0; i < LONG; i++)
        v[i] += b[i];
}

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int from = (rank + size - 1) % size;
    if (size > 1)
        from = rank ^ 1;
    for (int i = 0; i < LONG; i++)
        u[i] = rank + 0.5 * i;
    for (int turn = 0; turn < 3; turn++) {
        take(one, from, turn);
        take(two, from, turn);
        put(one, 0, turn);
        put(two, SHORT, turn);
        for (int i = 0; i < LONG; i++)
            two[i] = turn;
    }
    for (int i = 0; i < LONG; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
