/* What will be sent is counted by one function, and packed by another one, over the same cells: those on the left and those on the right in two buffers. */
#include <mpi.h>
#include <stdio.h>

#define CELLS 3

static int cells, side[CELLS][2], place[CELLS];
static double u[CELLS][2][4][4], out[512], back[512];
static int total, others;

static void measure(int parts)
{
    if (cells == 0)
        return;
    total = others = 0;
    for (int c = 0; c < cells; c++) {
        int face = side[c][0] * side[c][1] * parts;
        if (place[c] != cells)
            total += face;
        if (place[c] > 2)
            others += face;
    }
}

static void send(int peer)
{
    int n = 0, q = 0;
    for (int c = 0; c < cells; c++)
        for (int m = 0; m < 2; m++) {
            if (place[c] != cells)
                for (int k = 0; k < side[c][1]; k++)
                    for (int j = 0; j < side[c][0]; j++)
                        out[n++] = u[c][m][k][j];
            if (2 < place[c])
                for (int j = 0; j < side[c][0]; j++)
                    for (int k = 0; k < side[c][1]; k++)
                        back[q++] = u[c][m][k][j];
        }
    MPI_Send(out, total, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);   //~ give(out)
    MPI_Send(back, others, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD); //~ give(back)
}

int main(int argc, char **argv)
{
    int rank;
    double in[512], sum = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    cells = argc + 2;
    for (int c = 0; c < cells; c++) {
        place[c] = c + 2;
        side[c][0] = 2 + c % 2;
        side[c][1] = 3;
        for (int i = 0; i < 32; i++)
            u[c][i / 16][i / 4 % 4][i % 4] = 100.0 * c + i + rank;
    }
    measure(2);
    for (int step = 0; step < 3; step++) {
        if (rank == 0)
            send(1);
        else {
            for (int tag = 0; tag < 2; tag++) {
                int n;
                MPI_Recv(in, 512, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, &status); //~ take(in) no-stale-count
                MPI_Get_count(&status, MPI_DOUBLE, &n);
                for (int i = 0; i < n; i++)
                    sum += in[i] * (i + 1);
            }
        }
        u[0][0][0][0] += 1;
    }
    if (rank == 1)
        printf("%.1f\n", sum);
    MPI_Finalize();
    return 0;
}
