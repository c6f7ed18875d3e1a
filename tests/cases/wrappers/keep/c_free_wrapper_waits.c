/* The function that frees waits first for what may still be written there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double v[N];
static MPI_Request request = MPI_REQUEST_NULL;
static int released;

static void release(double *b)
{
    released++;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(b);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b = malloc(N * sizeof(double));
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = i + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Irecv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &request); //~ keep
            if (step < 2) {
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                for (int i = 0; i < N; i++)
                    v[i] += b[i];
            }
        }
    }
    release(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %d\n", rank, total, released);
    MPI_Finalize();
    return 0;
}
//~ silent: the transformed program would leave memory behind, or free what it does not own
