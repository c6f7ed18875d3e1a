/* A pointer is given memory in either arm: in one it grows, in the other it is there for one message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank, room = 0;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *b;
    for (int step = 0; step < 6; step++) {
        int n = (step % 3 + 1) * (N / 4);
        if (rank == 0) {
            b = malloc(n * sizeof *b);
            for (int i = 0; i < n; i++)
                b[i] = u[i] + step;
            MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
            free(b);
        } else if (rank == 1) {
            if (n > room) {
                if (step > 0)
                    free(b);
                room = n;
                b = malloc(room * sizeof *b);
            }
            MPI_Recv(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            for (int i = 0; i < n; i++)
                v[i] += b[i];
        }
    }
    if (room)
        free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
