/* The message that tells a size comes in a later turn of the loop, when the size is another one. */
#include <mpi.h>
#include <stdio.h>

static double out[256], field[64];
static int sizes[8];

static void put(int peer, int a, int c, int turns)
{
    for (int t = 0; 1; t++) {
        int b = sizes[t];
        for (int k = 0; k < c; k++)
            out[a + b + k] = field[k] + 0.5;
        for (int k = 0; k < a; k++)
            out[k] = field[k] + t;
        MPI_Send(&out[0], a, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
        MPI_Send(&out[a + b], c, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD); //~ keep
        if (t < turns)
            continue;
        for (int k = 0; k < b; k++)
            out[a + k] = field[k] + 0.25;
        MPI_Send(&out[a], b, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD);
        if (t > turns)
            return;
    }
}

static double get(int peer, int a, int c, int turns)
{
    double first[64], second[64], third[64], sum = 0;
    for (int t = 0; 1; t++) {
        int b = sizes[t];
        MPI_Recv(first, a, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(third, c, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < a; k++)
            sum += first[k] * (k + 1);
        for (int k = 0; k < c; k++)
            sum += third[k] * (k + 3);
        if (t < turns)
            continue;
        MPI_Recv(second, b, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < b; k++)
            sum += second[k] * (k + 2);
        if (t > turns)
            return sum;
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 64; i++)
        field[i] = i + 1;
    for (int i = 0; i < 8; i++)
        sizes[i] = 5 * i - 6 * argc;
    int a = argc + 9, c = argc + 12;
    if (rank == 0 && size > 1)
        put(1, a, c, argc + 1);
    if (rank == 1)
        printf("%.2f\n", get(0, a, c, argc + 1));
    MPI_Finalize();
    return 0;
}
