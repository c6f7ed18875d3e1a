/* Elements are structs; their number is sent first. */
#include <mpi.h>
#include <stdio.h>

struct cell {
    double a, b;
    double c;
};
static struct cell out[128], in[128];
static double field[64];
static int lo, hi;

static void put(int peer)
{
    int n = hi - lo + 1;
    MPI_Send(&n, 1, MPI_INT, peer, 3, MPI_COMM_WORLD);
    for (int j = 0; j < n; j++) {
        out[lo + j].a = field[lo + j];
        out[lo + j].b = field[lo + j + 1];
        out[lo + j].c = 0.5;
    }
    MPI_Send(&out[lo], n * (int)sizeof(struct cell), MPI_BYTE, peer, 4, MPI_COMM_WORLD); //~ give(out)
}

static void get(int peer)
{
    int n = 0;
    MPI_Recv(&n, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&in[lo], n * (int)sizeof(struct cell), MPI_BYTE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    for (int j = 0; j < n; j++)
        field[lo + j] += in[lo + j].a * in[lo + j].c + in[lo + j].b;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    lo = argc + 1;
    hi = argc + 9;
    for (int i = 0; i < 64; i++)
        field[i] = i + 100 * rank;
    for (int step = 0; step < 3; step++) {
        if (rank == 0 && size > 1)
            put(1);
        if (rank == 1)
            get(0);
        field[lo + 2] += 0.5;
    }
    double sum = 0;
    for (int i = 0; i < 64; i++)
        sum += field[i] * (i + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
