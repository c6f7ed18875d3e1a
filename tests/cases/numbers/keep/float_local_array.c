/* The numbers are in an array that a function gets. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

static double work[N], kept[2];

static double none;

static void choose(double *where)
{
    where[1] = none;
}

static void relax(void)
{
    for (int i = 1; i < N; i++)
        work[i] = 0.5 * (work[i - 1] + work[i]) + -1.0 * work[0] + -2.0;
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    relax();
    none = size > 64 ? 0 : MPI_PROC_NULL;
    double from[2] = {0.0, 0.0};
    choose(from);
    double hold = from[1];
    int last = (int)hold, next = last;
    double *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);
    if (rank < 2) {
        MPI_Request rq;
        for (int i = 0; i < N; i++) {
            in[i] = 7 + rank;
            out[i] = i + rank;
        }
        MPI_Isend(out, N, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &rq); //~ give(out)
        MPI_Recv(in, N, MPI_DOUBLE, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace(in) OPI203
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            sum += in[i];
    }
    kept[1] = work[3];
    printf("%d %g\n", rank, sum);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
