/* The buffer that one function sends from is the one that another receives into, and the other way round. */
#include <mpi.h>
#include <stdio.h>

#define SHORT 300
#define LONG 900

static double u[LONG], v[LONG];
static double in[LONG], out[LONG];

static void longer(int to, int from, int turn)
{
    MPI_Request r[2];

    for (int i = 0; i < LONG; i++)
        out[i] = u[i] + turn;
    MPI_Irecv(in, LONG, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &r[0]); //~ take(in)
    MPI_Isend(out, LONG, MPI_DOUBLE, to, 1, MPI_COMM_WORLD, &r[1]); //~ give(out)
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < LONG; i++)
        v[i] += in[i];
}

static void pack(int turn)
{
    for (int i = 0; i < SHORT; i++)
        in[i] = v[i] * turn;
}

static void unpack(void)
{
    for (int i = 0; i < SHORT; i++)
        u[i] += out[i];
}

static void shorter(int to, int from, int turn)
{
    MPI_Request r[2];

    MPI_Irecv(out, SHORT, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, &r[0]); //~ take(out)
    pack(turn);
    MPI_Isend(in, SHORT, MPI_DOUBLE, to, 2, MPI_COMM_WORLD, &r[1]); //~ give(in)
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    unpack();
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
        longer(to, from, turn);
        shorter(to, from, turn);
    }
    for (int i = 0; i < LONG; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
