/* Counted from one, with numbers of functions kept in statics and handed over by address. */
#include <mpi.h>
#include <stdio.h>

#define CELLS 3

static int cells, side[CELLS][2], place[CELLS];
static double u[CELLS][2][4][4], out[512];
static int total;

static int two = 2, size[1], from[1];

static void measure(int *parts)
{
    static int c, face;
    if (cells == 1)
        return;
    total = 0;
    for (c = 1; c <= cells; ++c) {
        face = side[c - 1][1] * side[c - 1][0] * *parts;
        if (place[c - 1] != cells) {
            total += face;
        }
    }
}

static void send(int peer)
{
    static int c, m, k, j, n;
    size[0] = total;
    from[0] = 1;
    n = 0;
    for (c = 1; c <= cells; ++c) {
        for (m = 1; m <= 2; ++m) {
            if (place[c - 1] != cells) {
                for (k = 0; k <= side[c - 1][1] - 1; ++k) {
                    for (j = 0; j <= side[c - 1][0] - 1; ++j) { //~ hole: j = 0 => j = 1
                        out[from[0] + n - 1] = u[c - 1][m - 1][k][j];
                        ++n;
                    }
                }
            }
        }
    }
    MPI_Send(out, size[0], MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ give(out)
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
    measure(&two);
    for (int step = 0; step < 3; step++) {
        if (rank == 0)
            send(1);
        else {
            int n;
            MPI_Recv(in, 512, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &status); //~ take(in) no-stale-count
            MPI_Get_count(&status, MPI_DOUBLE, &n);
            for (int i = 0; i < n; i++)
                sum += in[i] * (i + 1);
        }
        u[0][0][0][0] += 1;
    }
    if (rank == 1)
        printf("%.1f\n", sum);
    MPI_Finalize();
    return 0;
}
