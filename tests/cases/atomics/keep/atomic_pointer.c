/* An atomic operation returns an address in the buffer that is sent; it is read there. */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static _Atomic(double *) place;
static double u[N], in[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *out = malloc(N * sizeof *out);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    atomic_store(&place, out);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out)
            double *old = atomic_fetch_add(&place, 0);
            total += old[5];
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    free(out);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
