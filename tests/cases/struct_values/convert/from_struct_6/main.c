/* The struct is declared in a header, defined in one file and used in another. */
#include "shared.h"
#include <mpi.h>
#include <stdio.h>

struct halo halo;

int main(int argc, char **argv)
{
    static double u[N];
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    halo.n = argc > 5 ? 5 : N;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0)
            give(u, t);
        else if (rank == 1)
            take(u);
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
