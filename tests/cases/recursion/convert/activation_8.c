/* Each message is complete before the next level begins, though one request serves all levels. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static MPI_Request request;

static void down(int depth)
{
    double *b = malloc(N * sizeof *b);

    if (rank == 0) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            b[i] = u[i] + depth;
        MPI_Isend(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &request); //~ give(b)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Irecv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &request); //~ take(b)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += b[i];
    }
    if (depth > 0)
        down(depth - 1);
    free(b);
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    down(3);
    for (int i = 0; i < N; i++)
        total += (u[i] + v[i]) * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
