/* Both directions are one call; an array of the struct follows each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24

static struct {
    double in[N], out[N], more[N];
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
        if (rank < 2) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                halo.out[i] = u[i] + t;
            MPI_Sendrecv(halo.out, n, MPI_DOUBLE, 1 - rank, 7, halo.in, n, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(halo.out) take(halo.in)
            halo.more[t] = u[t];
            for (int i = n - 1; i >= 0; i--)
                u[i] += halo.in[i];
            u[0] += halo.more[t];
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
