/* A macro's text is no whole operand: `*` takes the pointer at its head, and the rest is added to what that points to. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600
#define FIRST b + 1

static double u[N], seen;

static void ship(double *b, int t)
{
    for (int i = 0; i < N; i++)
        b[i] = u[i] + t;
    seen += *FIRST;
    MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *q = malloc(N * sizeof(double));
    if (!q)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            ship(q, t);
        } else if (rank == 1) {
            MPI_Recv(q, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += q[i] * (i + 1);
        }
    }
    printf("%d: %.17g %.17g\n", rank, total, seen);
    free(q);
    MPI_Finalize();
    return 0;
}
