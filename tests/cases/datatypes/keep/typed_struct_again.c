/* In later turns the datatype is one with a gap. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, m = 6, n = 50;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype row, of[2] = {MPI_DOUBLE, MPI_DOUBLE};
    int lengths[2] = {n / 2, n / 2};
    MPI_Aint at[2] = {0, n / 2 * sizeof(double)};
    MPI_Type_create_struct(2, lengths, at, of, &row);
    MPI_Type_commit(&row);
    double *out = malloc(m * n * sizeof(double)), *in = malloc(m * n * sizeof(double));
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                out[i * n + j] = rank + 0.5 * i * j + t;
        MPI_Irecv(in, m - 1, row, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep(in) OPI207
        MPI_Isend(out, m - 1, row, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep(out) OPI107
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < (m - 1) * n; i++)
            sum += in[i] * (i % 7);
        MPI_Type_free(&row);
        lengths[1] = n / 2 - 1;
        at[1] += sizeof(double);
        MPI_Type_create_struct(2, lengths, at, of, &row);
        MPI_Type_commit(&row);
    }
    printf("%d %.17g\n", rank, sum);
    free(out);
    free(in);
    MPI_Type_free(&row);
    MPI_Finalize();
    return 0;
}
