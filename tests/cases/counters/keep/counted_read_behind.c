/* What comes was counted by one function, and is unpacked by another one: the element after the last one is read after the loops. */
#include <mpi.h>
#include <stdio.h>

#define CELLS 3

static int cells, side[CELLS + 1][2], place[CELLS + 1];
static double u[CELLS + 1][2][4][4], in[512], all[512];
static int total;

static void measure(int parts)
{
    if (cells == 0)
        return;
    total = 0;
    for (int c = 0; c < cells; c++)
        if (place[c] != cells)
            total += side[c][0] * side[c][1] * parts;
}

static void unpack(void)
{
    int n = 0;
    for (int c = 0; c < cells; c++)
        for (int m = 0; m < 2; m++)
            if (place[c] != cells)
                for (int k = 0; k < side[c][1]; k++)
                    for (int j = 0; j < side[c][0]; j++)
                        u[c][m][k][j] += in[n++];
    u[0][0][0][0] += in[n];
}

static void fetch(int peer)
{
    MPI_Recv(in, total, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    unpack();
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    cells = argc + 1;
    for (int c = 0; c <= cells; c++) {
        place[c] = c + 1;
        side[c][0] = 2 + c % 2;
        side[c][1] = 3;
    }
    measure(2);
    for (int i = 0; i < 512; i++)
        all[i] = in[i] = i + 0.5;
    for (int step = 0; step < 3; step++) {
        if (rank == 0)
            MPI_Send(all, total, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else
            fetch(0);
        all[step] += 1;
    }
    for (int i = 0; i < (CELLS + 1) * 32; i++)
        sum += u[i / 32][i / 16 % 2][i / 4 % 4][i % 4] * (i + 1);
    if (rank == 1)
        printf("%.1f\n", sum);
    MPI_Finalize();
    return 0;
}
