/* A name leads into the smaller memory, after its start. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int *b;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *x = malloc(N * sizeof *x);
    int in[64] = {0};
    b = malloc(64 * sizeof *b);
    int *inside = b + 1;
    inside--;
    if (argc < 5)
        b = malloc(64 * sizeof *b);
    for (int step = 0; step < 6; step++) {
        int n = (step % 3 + 1) * (N / 4);
        for (int i = 0; i < 64; i++)
            b[i] = 0;
        if (rank == 0) {
            MPI_Send(b, 64, MPI_INT, 1, 6, MPI_COMM_WORLD);
            for (int i = 0; i < N; i++)
                x[i] = u[i] + n;
            MPI_Send(x, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(x) OPI101
            inside[0] = 1;
            b[0] = 0;
            if (inside[0])
                v[0] += x[3];
        } else if (rank == 1) {
            MPI_Recv(in, 64, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            v[1] += in[2];
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
