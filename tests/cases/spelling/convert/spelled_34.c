/* What frees memory stands after a jump, and in an else branch: nothing else depends on the tests. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(N * sizeof(double)), *in = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            out[i] = u[i] + step;
        MPI_Sendrecv(out, N, MPI_DOUBLE, 1 - rank, 1, in, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(out) take(in)
        for (int i = 0; i < N; i++)
            v[i] += in[i];
    }
    if (!in)
        goto none;
    {
        free(in);
        in = NULL;
    }
none:
    if (NULL == out)
        ;
    else
        free(out);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
