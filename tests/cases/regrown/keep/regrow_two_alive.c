/* The larger memory does not replace the smaller, which is read later. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *b, *first;
static int room;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    room = 16;
    b = malloc(room * sizeof *b);
    first = b;
    for (int step = 0; step < 6; step++) {
        int n = step < 3 ? 10 : N / 2;
        if (rank == 0) {
            if (n > room) {
                b = malloc(n * sizeof *b);
                room = n;
            }
            for (int i = 0; i < n; i++)
                b[i] = u[i] + step;
            MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI402
            v[0] += first[3];
        } else if (rank == 1) {
            MPI_Recv(v, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
