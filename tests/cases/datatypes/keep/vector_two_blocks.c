/* A vector of two blocks with room between. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    MPI_Datatype grid;
} types;

int main(int argc, char **argv)
{
    int rank, m = 6, n = 50;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(2, n, 2 * n, MPI_DOUBLE, &types.grid);
    MPI_Type_commit(&types.grid);
    double *out = malloc(m * n * sizeof(double)), *in = malloc(m * n * sizeof(double));
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                out[i * n + j] = rank + 0.5 * i * j + t;
        MPI_Irecv(in, 1, types.grid, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep(in)
        MPI_Isend(out, 1, types.grid, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < m * n; i++)
            sum += in[i] * (i % 7);
    }
    printf("%d %.17g\n", rank, sum);
    free(out);
    free(in);
    MPI_Type_free(&types.grid);
    MPI_Finalize();
    return 0;
}
