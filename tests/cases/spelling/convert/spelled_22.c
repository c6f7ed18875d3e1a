/* A loop with its test at the end, under the same test. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N], sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank, n = N;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        n = argc;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            int i = 0;
            if (i < n)
                do {
                    sbuf[i] = u[i] + step;
                    i++;
                } while (i < n);
            MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            int i = 0;
            if (i < n) {
                do {
                    v[i] += rbuf[i];
                    i++;
                } while (i < n);
            }
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
