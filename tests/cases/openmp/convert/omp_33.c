/* A number of its own is set before the `switch` that reads it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], got[N], sbuf[N], rbuf[N];

static void fill(int kind)
{
    int w;
#pragma omp parallel for private(w)
    for (int k = 0; k < N; k++) {
        w = k;
        switch (kind) {
        case 1:
            sbuf[w] = u[w] + 1;
            break;
        default:
            sbuf[w] = u[w] - kind;
        }
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        fill(step % 2 + argc);
        if (rank == 0) {
            MPI_Send(sbuf, N, MPI_DOUBLE, size - 1, step, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == size - 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < N; i++)
                got[i] += rbuf[i] * (step + 1);
        }
    }
    for (int i = 0; i < N; i++)
        total += got[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
