/* Only some of the pointers in a struct are allocated, and they tell which. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static struct {
    double *out[4];
    int n;
} h;

int main(int argc, char **argv)
{
    int rank, count = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int d = 0; d < 4; d++)
        if (d % 2)
            h.out[d] = malloc(N * sizeof(double));
    for (int step = 0; step < 3; step++)
        for (int d = 0; d < 4; d++)
            if (rank == 0) {
                if (h.out[d]) {
                    for (int i = 0; i < N; i++)
                        h.out[d][i] = u[i] + step;
                    MPI_Send(h.out[d], N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
                    count++;
                }
            } else if (rank == 1) {
                if (d % 2)
                    MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
    printf("%d: %d %.17g\n", rank, count, v[5]);
    MPI_Finalize();
    return 0;
}
//~ silent: the pointer is compared, nothing is read
