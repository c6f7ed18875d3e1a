/* The function that frees keeps the test in a variable, and jumps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double v[N];

static void done(double *p)
{
    int none = p == NULL;

    do {
        if (none)
            goto end;
        free(p);
    } while (0);
end:;
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(N * sizeof(double)), *in = malloc(N * sizeof(double));
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                out[i] = t + 0.5 * i;
            MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                sum += (t + 1) * in[i] + v[i];
        }
    }
    done(out);
    done(in);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
