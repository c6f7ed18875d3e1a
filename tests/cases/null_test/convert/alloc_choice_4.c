/* One per direction, in a table; the directions at the border have none. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *out[2], *in[2];

int main(int argc, char **argv)
{
    int rank, size, n = 200, to[2];
    double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    to[0] = rank - 1;
    to[1] = rank + 1 < size ? rank + 1 : -1;
    for (int d = 0; d < 2; d++) {
        out[d] = to[d] >= 0 ? malloc((size_t)n * sizeof(double)) : NULL;
        in[d] = to[d] >= 0 ? malloc((size_t)n * sizeof(double)) : NULL;
    }
    for (int k = 0; k < 4; k++) {
        MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        for (int d = 0; d < 2; d++)
            if (to[d] >= 0)
                MPI_Irecv(in[d], n, MPI_DOUBLE, to[d], 0, MPI_COMM_WORLD, &q[d]); //~ take(in[d])
        for (int d = 0; d < 2; d++) {
            if (to[d] < 0)
                continue;
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                out[d][i] = x + i + d;
            MPI_Send(out[d], n, MPI_DOUBLE, to[d], 0, MPI_COMM_WORLD); //~ give(out[d])
        }
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int d = 0; d < 2; d++)
            if (to[d] >= 0)
                for (int i = 0; i < n; i++)
                    x += in[d][i] * 0.001;
    }
    printf("%d %.17g\n", rank, x);
    for (int d = 0; d < 2; d++) {
        free(out[d]);
        free(in[d]);
    }
    MPI_Finalize();
    return 0;
}
