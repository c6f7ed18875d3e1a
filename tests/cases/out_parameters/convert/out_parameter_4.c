/* Two buffers of two variables at file level. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *b, *in;

void make(int n, double **p)
{
    *p = malloc(n * sizeof **p);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    make(N, &b);
    make(N, &in);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                v[i] += in[i];
        }
    }
    free(b);
    free(in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
