/* The rows have numbers, each in a statement of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define R 4
#define MOST 600

static double out[R][MOST], in[R][MOST], u[R * MOST];
static MPI_Request rq[2 * R];

int main(int argc, char **argv)
{
    int rank, n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = atoi(argc > 1 ? argv[1] : "500");
    for (int i = 0; i < R * MOST; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        MPI_Irecv(in[0], n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in[0])
        MPI_Irecv(in[1], n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[1]); //~ take(in[1])
        MPI_Irecv(in[2], n, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, &rq[2]); //~ take(in[2])
        MPI_Irecv(in[3], n, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, &rq[3]); //~ take(in[3])
        for (int i = 0; i < n; i++)
            out[0][i] = u[0 * n + i];
        MPI_Isend(out[0], n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[R + 0]); //~ give(out[0])
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            out[1][i] = u[1 * n + i];
        MPI_Isend(out[1], n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[R + 1]); //~ give(out[1])
        for (int i = 0; i < n; i++)
            out[2][i] = u[2 * n + i];
        MPI_Isend(out[2], n, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, &rq[R + 2]); //~ give(out[2])
        for (int i = 0; i < n; i++)
            out[3][i] = u[3 * n + i];
        MPI_Isend(out[3], n, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, &rq[R + 3]); //~ give(out[3])
        MPI_Waitall(2 * R, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            u[0 * n + i] += in[0][i];
        for (int i = 0; i < n; i++)
            u[1 * n + i] += in[1][i];
        for (int i = 0; i < n; i++)
            u[2 * n + i] += in[2][i];
        for (int i = 0; i < n; i++)
            u[3 * n + i] += in[3][i];
    }
    double total = 0.0;
    for (int i = 0; i < R * MOST; i++)
        total += u[i] * (i % 5 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
