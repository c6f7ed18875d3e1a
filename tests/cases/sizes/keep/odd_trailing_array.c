/* A number after the declared end of a struct's last array, where malloc left room, is overwritten by a subscript. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

struct numbers {
    int n;
    int at[1];
};

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct numbers *counts = malloc(sizeof *counts + 20 * sizeof(int));
    if (!counts)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < N; i++) {
        u[i] = rank + 0.5 * i;
        sbuf[i] = 7;
    }
    counts->n = 10;
    counts->at[3] = 2000;
    counts->at[argc + 2] = 300;
    for (int turn = 0; turn < 3; turn++) {
        if (rank == 0) {
            for (int i = 0; i < counts->at[3]; i++)
                sbuf[i] = u[i] + turn;
            MPI_Send(sbuf, 2000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(rbuf, 2000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 2000; i++)
                v[i] += rbuf[i];
        }
    }
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += v[i] * (i % 5);
    printf("%d %.17g\n", rank, sum);
    free(counts);
    MPI_Finalize();
    return 0;
}
