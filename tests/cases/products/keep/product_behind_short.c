/* The second nest leaves out a row of the box, so that the message ends after what is packed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MAX 4096
#define CELLS 3

static double out[MAX], in[MAX], u[MAX];
static int start[2 * CELLS], end[2 * CELLS], slice[CELLS];

static int area(int c)
{
    return (end[2 * c] - start[2 * c]) * (end[2 * c + 1] - start[2 * c + 1]);
}

static void pack(int c)
{
    int p = 0;

    for (int k = start[2 * c]; k < end[2 * c]; k++)
        for (int j = start[2 * c + 1]; j < end[2 * c + 1]; j++)
            for (int i = 0; i < 2; i++) {
                out[p] = u[k * 10 + j];
                for (int m = 0; m < 3; m++)
                    out[p + 1 + m] = u[m + k] - j;
                p += 4;
            }
    for (int k = start[2 * c] + 1; k < end[2 * c]; k++)
        for (int j = start[2 * c + 1]; j < end[2 * c + 1]; j++)
            out[p++] = u[j] + k;
    for (int m = 4; m <= 5; m++)
        for (int k = start[2 * c]; k < end[2 * c]; k++)
            for (int j = start[2 * c + 1]; j < end[2 * c + 1]; j++) {
                out[p] = m;
                out[p + 1] = u[k + j];
                p += 2;
            }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.25 * i;
    for (int d = 0; d < 2 * CELLS; d++) {
        start[d] = d % 2;
        end[d] = 5 + d / 2;
    }
    for (int c = 0; c < CELLS; c++)
        slice[c] = (c + argc) % CELLS;
    for (int stage = 0; stage < CELLS; stage++) {
        int c = slice[stage], n = area(c);

        if (rank == 0) {
            pack(c);
            MPI_Send(out, 13 * n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI102
        } else if (rank == 1) {
            MPI_Recv(in, 13 * n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < 13 * n; i++)
                u[i] += in[i];
        }
    }
    printf("%d: %.17g\n", rank, u[5] + u[13]);
    MPI_Finalize();
    return 0;
}
