/* A pointer that is made from the array is read after its send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24

static struct {
    double out[N], next[N];
} halo;
static double u[N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? atoi(argv[5]) : N;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            double *p = halo.out + 1;
            for (int i = 0; i < N; i++)
                halo.out[i] = u[i] + t;
            MPI_Send(halo.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
            u[t] += *p;
            halo.next[t] = t;
        } else if (rank == 1) {
            MPI_Recv(u, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
