/* It is asserted that there is memory, which two pointers divide. */
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double u[800];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : 400;
    double total = 0.0, *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(2 * n * sizeof *out);
    assert(out != NULL);
    in = out + n;
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < n; i++)
            out[i] = u[i] + t;
        MPI_Irecv(in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        MPI_Isend(out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            u[i] += in[i];
    }
    for (int i = 0; i < n; i++)
        total += u[i] * (i % 5);
    printf("%d: %.17g\n", rank, total);
    free(out);
    MPI_Finalize();
    return 0;
}
