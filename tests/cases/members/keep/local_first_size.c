/* The pointer is set only where it is to have more room than before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int grow(int n, double **p, int *room)
{
    double *t = malloc(n * sizeof *t);

    t[0] = n;
    if (n > *room) {
        *p = t;
        *room = n;
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *out = NULL;
    int room = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        grow(N / (step + 1), &out, &room);
        if (rank == 0) {
            for (int i = 0; i < room; i++)
                out[i] = u[i] + step;
            MPI_Send(out, room, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out)
        } else if (rank == 1) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(out);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
