#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* What was sent is read at a place that is put together of numbers, each chosen one way or another; on the way there a
   loop writes another part of the buffer. */

static double out[256];
static int option[8];

int main(int argc, char **argv)
{
    int rank, a, b, c, d, e, f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 8; i++)
        option[i] = argc > i + 1 ? atoi(argv[i + 1]) : i % 3;
    if (rank == 0) {
        for (int i = 0; i < 128; i++)
            out[i] = i + rank;
        MPI_Send(out, 128, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(out) OPI101
        for (int i = 128; i < 256; i++)
            out[i] = -i;
        if (option[0] > 0) a = option[6]; else a = option[7] + 1;
        if (option[1] > 0) b = option[6] + 1; else b = option[7] + 2;
        if (option[2] > 0) c = option[6] + 3; else c = option[7] + 5;
        if (option[3] > 0) d = option[6] + 7; else d = option[7] + 4;
        if (option[4] > 0) e = option[6] + 8; else e = option[7] + 6;
        if (option[5] > 0) f = option[6] + 9; else f = option[7] + 3;
        printf("%g\n", out[a + b + c + d + e + f]);
    } else if (rank == 1) {
        double in[128];
        MPI_Recv(in, 128, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        printf("%g\n", in[0] + in[127]);
    }
    MPI_Finalize();
    return 0;
}
