/* The function makes its parameter larger before it allocates, through its address. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *room(int n)
{
    int *more = &n;
    *more += 50;
    double *p = malloc(n * sizeof(double));
    return p;
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = room(n), *in = room(n);
    n += 40;
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < n; i++)
            out[i] = 0.5 * i * rank + t;
        MPI_Irecv(in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep(in) OPI215
        MPI_Isend(out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep(out) OPI114
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            sum += in[i];
    }
    printf("%d %g\n", rank, sum);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
