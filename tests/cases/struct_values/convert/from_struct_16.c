/* Another array follows the one that is received: all that may come is read by its name. */
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
    int rank, n = argc > 5 ? atoi(argv[5]) : N;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                halo.out[i] = u[i] + t;
            MPI_Send(halo.out, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(halo.out)
        } else if (rank == 1) {
            MPI_Recv(halo.in, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(halo.in)
            for (int i = 0; i < n; i++)
                u[i] += halo.in[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
