/* Loops that end where a counter comes to a number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 640

static double u[2 * N], v[2 * N];

static void swap(int peer, int step)
{
    static double out[2 * N];
    double in[2 * N];

    for (int i = 0; i != N; i++) { //~ hole: i = 0 => i = 1
        out[i] = u[i] + step;
        out[N + i] = u[N + i] - step;
    }
    MPI_Sendrecv(out, N, MPI_DOUBLE, peer, 1, in, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(out) take(in)
    MPI_Sendrecv(out + N, N, MPI_DOUBLE, peer, 2, in + N, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(out + N) take(in + N)
    for (int i = 0; i != N; i++)
        v[i] += in[i] * in[N + i];
    v[0] += sizeof out / sizeof *out;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i != 2 * N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step != 3; step++)
        swap(1 - rank, step);
    double total = 0.0;
    for (int i = 0; i != 2 * N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ points 4
