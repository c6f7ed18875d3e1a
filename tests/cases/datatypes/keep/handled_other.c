/* The variable is longer than what is packed: two numbers an element. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, m = 6, n = 50;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype type = MPI_C_DOUBLE_COMPLEX;
    double *out = malloc(m * n * sizeof(double)), *in = malloc(m * n * sizeof(double));
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < m - 2; i++)
            for (int j = 0; j < n; j++)
                out[i * n + j] = rank + 0.5 * i * j + t;
        MPI_Irecv(in, m * n / 2 - 10, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep(in) OPI202
        MPI_Isend(out, m * n / 2 - 10, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep(out) OPI102
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < m * n; i++)
            sum += in[i] * (i % 7);
    }
    printf("%d %.17g\n", rank, sum);
    free(out);
    free(in);

    MPI_Finalize();
    return 0;
}
