/* A number after the end of the type comes from memory: the difference is small. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    size_t marks[3];
    int n = 4 + argc;
    double *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(N * sizeof *out);
    in = malloc(N * sizeof *in);
    for (int i = 0; i < N; i++)
        in[i] = i;
    marks[0] = (size_t)-1;
    marks[1] = 3;
    marks[2] = 9;
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            out[i] = u[i];
        MPI_Send(out, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(in, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
        size_t m = n - marks[argc - 1];
        for (size_t i = 0; i < m; i++)
            v[i] += in[i];
    }
    free(out);
    free(in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
