/* What a function of the library makes of a number, made an int by the second loop only. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double out[64], in[64];
static int n, total, more, *w;
static long a;

static void measure(void)
{
    total = 0;
    for (int c = 0; c < n; c++)
        if (labs(a) > 100)
            total += w[c];
}

static void work(int peer, int step)
{
    int j = 0;
    for (int c = 0; c < n; c++) {
        if ((int)labs(a) > 100) {
            for (int k = 0; k < w[c]; k++)
                out[j++] = k + step;
        } else {
            more++;
        }
    }
    MPI_Send(out, total, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ keep(out)
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = argc + 5;
    w = malloc(16 * sizeof *w);
    for (int i = 0; i < 16; i++)
        w[i] = 1 + i % 3;
    for (int i = 0; i < 64; i++)
        out[i] = i * 7 + 1;
    a = n == 6 ? strtol("4294967302", 0, 10) : 5;
    measure();
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            work(1, step);
        } else if (rank == 1) {
            int c;
            double sum = 0;
            MPI_Recv(in, 64, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &c);
            for (int i = 0; i < c; i++)
                sum += in[i] * (i + 1);
            printf("%d: %d %.1f\n", step, c, sum);
        }
    }
    free(w);
    MPI_Finalize();
    return 0;
}
