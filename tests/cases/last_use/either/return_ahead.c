/* A return before the declarations; another one loses what they hold. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

static double s[N], total;

static void work(int turn, int peer)
{
    if (turn > 2)
        return;
    double *rows[3], *one = malloc(N * sizeof(double));
    for (int d = 0; d < 3; d++)
        rows[d] = malloc(N * sizeof(double));
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < N; i++)
            s[i] = turn + d * i;
        MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 3, rows[d], N, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 4, one, N, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (turn == 1)
        return;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < N; i++)
            total += rows[d][i] * one[i];
    for (int d = 0; d < 3; d++)
        free(rows[d]);
    free(one);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 5; turn++)
        work(turn % 4, 1 - rank);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
