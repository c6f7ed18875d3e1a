/* One side of & has read what a call on the other one changes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static int flip(int *s)
{
    *s = !*s;
    return 1;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    for (int step = 0; step < 4; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = 2.0 * i + step;
            int s = step & 1;
            if ((s == 1) & (flip(&s) == 1))
                MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI101
            if (s == 0)
                total += out[3];
        } else if (rank == 1 && (step & 1)) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                total += in[i] * i;
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
