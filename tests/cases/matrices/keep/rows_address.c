/* A function of the library gets the address of a whole row. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 600

static double u[N], v[N];
static double a[3][N], b[3][N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 4; step++) {
        for (int k = 0; k < 3; k++) {
            if (rank == 0) {
                memset(&a[k], 0, sizeof a[k]);
                for (int i = 0; i < N; i++)
                    a[k][i] = u[i] + step;
                MPI_Send(a[k], N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
            } else if (rank == 1) {
                double c[N];
                MPI_Recv(b[k], N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
                memcpy(&c, &b[k], sizeof c);
                for (int i = 0; i < N; i++)
                    v[i] += c[i];
            }
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
