/* A function that prints calls one that says which pointer is the next one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 900

static double u[N], v[N], seconds;
static int now;

static int turn(int row)
{
    now = row;
    return row + 1;
}

static void tell(int row)
{
    fprintf(stderr, "row %d\n", turn(row));
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *box[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int k = 0; k < 2; k++)
        box[k] = malloc(N * sizeof(double));
    for (int step = 0; step < 3; step++)
        for (int k = 0; k < 2; k++) {
            if (rank == 0) {
                for (int i = 0; i < N; i++)
                    box[k][i] = u[i] * (k + 1) + step;
                now = 0;
                double *b = box[now];
                tell(k);
                MPI_Send(b, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
            } else if (rank == 1) {
                MPI_Recv(v, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(v)
                for (int i = 0; i < N; i++)
                    total += v[i] * (i + 1);
            }
        }
    printf("%d: %.17g\n", rank, total);
    free(box[0]);
    free(box[1]);
    MPI_Finalize();
    return 0;
}
