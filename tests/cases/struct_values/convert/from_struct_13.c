/* Macros name the arrays. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24

static struct {
    int n;
    double out[N], in[N];
} halo;
static double u[N];
#define OUT halo.out
#define IN(i) halo.in[i]
#define MANY halo.n

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
            MANY = n;
            for (int i = 0; i < MANY; i++) //~ hole: i = 0 => i = 1
                OUT[i] = u[i] + t;
            MPI_Send(OUT, MANY, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(halo.out)
        } else if (rank == 1) {
            MPI_Recv(&IN(0), n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(halo.in)
            for (int i = 0; i < n; i++)
                u[i] += IN(i);
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
