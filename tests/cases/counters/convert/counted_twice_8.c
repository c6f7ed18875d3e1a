/* Both loops ask for the whole number in what a function of the program's own makes. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#define CELLS 3 /* of which the one at the end is not packed */

static int cells, side[CELLS][2], place[CELLS];
static double u[CELLS][2][4][4], out[512];
static int total, last;

static double whole(const double *x)
{
    return *x < 0 ? -floor(-*x) : floor(*x);
}

static void measure(int parts)
{
    if (cells == 0)
        return;
    total = 0;
    for (int c = 0; c < cells; c++)
        if (place[c] != last)
            total += side[c][0] * side[c][1] * parts;
}

static void send(int peer)
{
    int n = 0; //~ hole: n = 0 => n = 1
    for (int c = 0; c < cells; c++)
        for (int m = 0; m < 2; m++)
            if (place[c] != last)
                for (int k = 0; k < side[c][1]; k++)
                    for (int j = 0; j < side[c][0]; j++)
                        out[n++] = u[c][m][k][j];
    MPI_Send(out, total, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ give(out)
}

int main(int argc, char **argv)
{
    int rank;
    double in[512], sum = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    cells = argc + 2;
    double root = sqrt(argc + 15.5);
    last = (int)whole(&root);
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
            int n;
            MPI_Recv(in, 512, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &status); //~ take(in)
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
