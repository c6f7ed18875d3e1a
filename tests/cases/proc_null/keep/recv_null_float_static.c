/* The number of nobody is a floating constant at file level. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

static const double NOBODY = -1.0;

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    int from = (int)((rank ? rank - 1.0 : NOBODY) * 1.0), to = rank ? MPI_PROC_NULL : 1;
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < N; i++) {
            out[i] = i + t;
            in[i] = 7 + t;
        }
        MPI_Irecv(in, N, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &rq[0]); //~ replace(in) OPI203
        MPI_Isend(out, N, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &rq[1]);
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            sum += in[i];
    }
    printf("%d %g\n", rank, sum);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
