/* Elements are of the file's struct; the functions that pack and unpack have another one of its name. */
#include <mpi.h>
#include <stdio.h>

struct cell {
    double a, b;
};
typedef struct {
    double a, b;
} pair;
static struct cell out[128];
static pair in[128];
static double field[64];
static int lo, hi;

static void put(int peer)
{
    struct cell {
        double b, a;
    } first = {1, 2};
    for (int j = lo; j <= hi; j++) {
        out[j].a = field[j];
        out[j].b = first.a;
    }
    MPI_Send(&out[lo], (hi - lo + 1) * (int)sizeof out[0], MPI_BYTE, peer, 4, MPI_COMM_WORLD); //~ keep(out)
}

static void get(int peer)
{
    typedef struct {
        double c, b, a;
    } pair;
    pair first = {1, 2, 3};
    MPI_Recv(&in[lo], (hi - lo + 1) * (int)sizeof in[0], MPI_BYTE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
    for (int j = lo; j <= hi; j++)
        field[j] += in[j].a * in[j].b + first.c;
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
