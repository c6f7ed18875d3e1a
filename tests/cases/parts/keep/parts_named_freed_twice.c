/* Memory that is not there is freed, too: the first name is NULL then, the second one is what it was. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;
    double *in = NULL, *out = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        if (step != 1) {
            MPI_Request rq[2];
            in = malloc(2 * n * sizeof(double));
            out = in + n;
            MPI_Irecv(in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]);
            for (int i = 0; i < n; i++)
                out[i] = u[i] + step;
            MPI_Isend(out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep
            MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
            for (int i = 0; i < n; i++)
                u[i] += in[i] + out[i];
        }
        free(in);
        in = NULL;
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ points 4
