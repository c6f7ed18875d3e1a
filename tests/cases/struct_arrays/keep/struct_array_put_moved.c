/* A function is given one array of a struct, goes on to the next one, and sends that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24

static struct {
    double out[N], more[N];
} halo;
static double got[4 * N];
static double u[N];

static void put(double *b, int n)
{
    b += N;
    MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? atoi(argv[5]) : 2 * N;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                halo.out[i] = u[i] + t;
            for (int i = 0; i < N; i++)
                halo.more[i] = u[i] - t;
            put(halo.out, n / 2);
            MPI_Send(halo.out, N, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(got, n / 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(got + N, N, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 2 * N; i++)
                u[i % N] += got[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
