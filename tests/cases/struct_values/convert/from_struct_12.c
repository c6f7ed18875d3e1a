/* Pointers walk along the arrays. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24

static struct {
    int n;
    double out[N], in[N];
} halo;
static double u[N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 5 : N;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            double *to = halo.out;
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                *to++ = u[i] + t;
            (&halo)->n = n;
            MPI_Send((&halo)->out, halo.n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give((&halo)->out)
        } else if (rank == 1) {
            MPI_Recv(&halo.in[0], n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(halo.in)
            const double *from = halo.in;
            for (int i = 0; i < n; i++)
                u[i] += from[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
