/* A message from a place in the array in front of it takes along what the array contains. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24

static struct {
    double first[N], out[N];
} halo;
static double got[4 * N];
static double u[N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? atoi(argv[5]) : 2 * N, k = argc > 6 ? atoi(argv[6]) : 4;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                halo.first[i] = halo.out[i] = u[i] + t;
            MPI_Send(halo.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
            MPI_Send(&halo.first[k], n - k, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(u, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(got, n - k, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n - k; i++)
                u[i % N] += got[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
