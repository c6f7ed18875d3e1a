/* The macro reads the buffer after the send that it makes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 150
#define SEND(p, n, to) \
    do { MPI_Send(p, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); last = (p)[(n) - 1]; } while (0)
#define KEEP_ONE(p, n, to) do { double *q = (p); MPI_Send(q, n, MPI_DOUBLE, to, 1, MPI_COMM_WORLD); printf("%g\n", (p)[0]); } while (0)

int main(int argc, char **argv)
{
    int rank;
    double last = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        double *a = malloc(N * sizeof(double)), *c = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            a[i] = c[i] = i;
        SEND(a, N, 1); //~ keep OPI109
        KEEP_ONE(c, N, 1); //~ keep
        printf("%g\n", last);
        free(a);
        free(c);
    } else if (rank == 1) {
        static double b[N], d[N];
        MPI_Recv(b, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(d, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%g\n", b[N - 1] + d[1]);
    }
    MPI_Finalize();
    return 0;
}
