/* The request's counter also says which pointer the short name is for: it counts beside that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 900

static double u[N], v[N];

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
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[2];
        int n = 0;
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < N; i++)
                box[k][i] = u[i] * (k + 1) + step;
            {
                double *b = box[n];
                MPI_Isend(b, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[n++]); //~ keep
            }
        }
        for (int k = 0; k < 2; k++) {
            MPI_Recv(v, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(v)
            for (int i = 0; i < N; i++)
                total += v[i] * (i + 1);
        }
        MPI_Waitall(n, rq, MPI_STATUSES_IGNORE);
    }
    printf("%d: %.17g\n", rank, total);
    free(box[0]);
    free(box[1]);
    MPI_Finalize();
    return 0;
}
