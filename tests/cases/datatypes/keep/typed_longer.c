/* The number of elements changes before the datatype is made: it is longer than what is packed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, m = 6, n = 50;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype row;
    n++;
    MPI_Type_contiguous(n, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    n--;
    double *out = malloc(m * n * sizeof(double)), *in = malloc(m * n * sizeof(double));
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < m - 1; i++)
            for (int j = 0; j < n; j++)
                out[i * n + j] = rank + 0.5 * i * j + t;
        MPI_Irecv(in, m - 1, row, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep(in) OPI202
        MPI_Isend(out, m - 1, row, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep(out) OPI102
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < m * n; i++)
            sum += in[i] * (i % 7);
    }
    printf("%d %.17g\n", rank, sum);
    free(out);
    free(in);
    MPI_Type_free(&row);
    MPI_Finalize();
    return 0;
}
