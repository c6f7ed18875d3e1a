/* Other arrays follow the one that is received. Messages begin at computed places, and what comes is read to its end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24

static struct {
    double in[N], out[N];
} halo;
static double u[N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? atoi(argv[5]) : N - 4, at = argc > 6 ? atoi(argv[6]) : 2;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                halo.out[at + i] = u[i] + t;
            MPI_Send(&halo.out[at], n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(&halo.out[at])
        } else if (rank == 1) {
            MPI_Recv(&halo.in[at], n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(&halo.in[at])
            for (int i = 0; i < n; i++)
                u[i] += halo.in[at + i];
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
