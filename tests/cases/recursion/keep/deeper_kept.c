/* A deeper level keeps the address of what was received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double all[N], spare[N];
static double *seen = spare;

static double walk(double *a, double *b, int n)
{
    seen = a;
    return n == 0 ? a[0] : b[n] + walk(b, a, n - 1);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int step = 0; step < 2; step++) {
            for (int i = 0; i < N; i++)
                all[i] = (i * 37) % 1001 + step;
            MPI_Send(all, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(all)
        }
    } else if (rank == 1) {
        double *part = malloc(N * sizeof *part);
        for (int step = 0; step < 2; step++) {
            MPI_Recv(part, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(part)
            total += seen[4];
            if (step == 0)
                total += walk(spare, part, 3);
            total += seen[5];
        }
        free(part);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
