/* The functions name the buffers themselves, and get the number of a face. */
#include <mpi.h>
#include <stdio.h>

static double out[256], in[256], field[64];
static int lo, hi;

static const int first[2] = { 4, 60 };

static void pack_face(int face)
{
    int i;
    for (i = lo; i < hi; i++)
        out[first[face] + (i - lo)] = field[i] * (face + 1);
}

static void unpack_face(int face)
{
    int i;
    for (i = lo; i < hi; i++)
        field[i] += in[first[face] + i - lo];
}

static void put(int peer)
{
    MPI_Request q[2];
    for (int f = 0; f < 2; f++) {
        pack_face(f);
        MPI_Isend(out + first[f], hi - lo, MPI_DOUBLE, peer, f, MPI_COMM_WORLD, &q[f]); //~ give(out)
    }
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

static void get(int peer)
{
    for (int f = 0; f < 2; f++) {
        MPI_Recv(in + first[f], hi - lo, MPI_DOUBLE, peer, f, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        unpack_face(f);
    }
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
