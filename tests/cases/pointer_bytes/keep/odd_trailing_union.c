/* A subscript of the short array of a union reaches what the long one holds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

struct numbers {
    union {
        int few[1];
        int many[8];
    } at;
    int n;
};

static double u[N], v[N];
static double sbuf[N], rbuf[N];
static struct numbers counts;

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) {
        u[i] = rank + 0.5 * i;
        sbuf[i] = 7;
    }
    int *last = &counts.at.many[3];
    *last = 2000;
    counts.at.few[argc + 2] = 300;
    for (int turn = 0; turn < 3; turn++) {
        if (rank == 0) {
            for (int i = 0; i < counts.at.many[3]; i++)
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
    MPI_Finalize();
    return 0;
}
