/* Each level swaps what it is given: an even one reads what came before the message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double all[N];
static double old[N];

static double walk(double *a, double *b, int depth)
{
    if (depth == 0)
        return b[N - 1];
    return a[depth] + walk(b, a, depth - 1);
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
            MPI_Send(all, N - 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        }
    } else if (rank == 1) {
        double *part = malloc(N * sizeof *part);
        for (int step = 0; step < 2; step++) {
            MPI_Recv(part, N - 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(part)
            total += walk(part, old, 4) + walk(old, part, 4);
            part[N - 1] = 3.0;
        }
        free(part);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
