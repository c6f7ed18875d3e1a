/* A swap in a loop that runs once. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *now = malloc(N * sizeof(double)), *next = malloc(N * sizeof(double));
    for (int t = 0; t < 4 && rank < 2; t++) {
        MPI_Request rq;
        for (int i = 0; i < N; i++)
            now[i] = rank + t + 0.5 * i;
        MPI_Irecv(next, N, MPI_DOUBLE, 1 - rank, t, MPI_COMM_WORLD, &rq); //~ take(next)
        MPI_Send(now, N, MPI_DOUBLE, 1 - rank, t, MPI_COMM_WORLD); //~ give(now)
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            sum += (t + 1) * next[i];
        double *old = next;
        do {
            next = now;
        } while (0);
        now = old;
    }
    free(now);
    free(next);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
