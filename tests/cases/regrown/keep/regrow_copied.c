/* What the smaller memory held is copied to the larger, and counts on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 2048

static double u[N], v[N];
static double *b;
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
    for (int i = 0; i < room; i++)
        b[i] = i;
    for (int step = 0; step < 6; step++) {
        int n = (step % 3 + 1) * (N / 4);
        if (rank == 0) {
            if (n > room) {
                double *more = malloc(n * sizeof *more);
                memcpy(more, b, room * sizeof *more);
                free(b);
                b = more;
                for (int i = room; i < n; i++)
                    b[i] = 1.0;
                room = n;
            }
            for (int i = 0; i < n; i++)
                b[i] += u[i];
            MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(v, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
