/* The last message of the first array goes on in the member after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24

static struct {
    double out[2][N];
    double calls;
    double in[2][N + 1];
} halo;
static double u[N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? atoi(argv[5]) : N;
    double total = 0.0;
    (void)n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int d = 0; d < 2; d++) {
                for (int i = 0; i < N; i++)
                    halo.out[d][i] = u[i] + t + d;
                MPI_Send(&halo.out[d][0], N + d, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ keep(&halo.out[d][0])
            }
        } else if (rank == 1) {
            for (int d = 0; d < 2; d++) {
                MPI_Recv(&halo.in[d][0], N + d, MPI_DOUBLE, 0, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                for (int i = 0; i < N; i++)
                    u[i] += halo.in[d][i];
            }
        }
        halo.calls++;
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
