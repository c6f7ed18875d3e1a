/* A row of a table gets other memory while the parameter still names the old one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

static double *b[3], *other;

static int get(double *buf, int j, int n)
{
    b[j] = other;
    return MPI_Recv(buf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    static double u[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = calloc(N, sizeof(double));
    for (int j = 0; j < 3; j++)
        b[j] = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        u[i] = i;
    for (int j = 0; j < 3; j++) {
        if (rank == 0) {
            MPI_Send(u, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            get(b[j], j, N);
            for (int i = 0; i < N; i++)
                total += b[j][i];
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
