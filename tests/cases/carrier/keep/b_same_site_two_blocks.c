/* One allocation wrapper makes both blocks; the one that was not sent is read. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double rbuf[N];

static double *fresh(void)
{
    return malloc(N * sizeof(double));
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *a = fresh(), *b = fresh();
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        double *first = a;
        for (int i = 0; i < N; i++) {
            a[i] = u[i];
            b[i] = -u[i];
        }
        if (argc < 4) {
            a = b;
            b = first;
        }
        MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        printf("%.17g %.17g\n", a[3], b[3]);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
