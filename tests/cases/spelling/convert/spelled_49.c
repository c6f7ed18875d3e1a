/* Whether there is something to pack is a number first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank, n = N / argc, m = n - (argc > 5);
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = malloc(N * sizeof *sbuf), *rbuf = malloc(N * sizeof *rbuf);
    for (int i = 0; i < N; i++) {
        u[i] = rank + 0.5 * i;
        sbuf[i] = i;
    }
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            int some = n != 0;
            if (some)
                for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                    sbuf[i] = u[i] + step;
            MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < n; i++)
                v[i] += rbuf[i];
        }
    }
    free(sbuf);
    free(rbuf);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %d\n", rank, total, m);
    MPI_Finalize();
    return 0;
}
