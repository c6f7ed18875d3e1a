/* Each row begins where the one before ends; the function that makes the table ends the program for want of memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N];

static double **table(int rows, int cols)
{
    double **t = (double **)malloc(rows * sizeof(double *));
    if (!t) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    t[0] = (double *)malloc((size_t)rows * cols * sizeof(double));
    if (!t[0]) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    for (int i = 1; i < rows; i++)
        t[i] = t[i - 1] + cols;
    return t;
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    double **out, **in;
    out = table(2, n);
    in = table(2, n);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++) { //~ hole: i = 0 => i = (step > 0)
                (*out)[i] = u[i];
                out[1][i] = u[n + i];
            }
            MPI_Send(*out, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(*out)
            MPI_Send(out[1], n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ give(out[1])
        } else if (rank == 1) {
            MPI_Recv(*in, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(*in)
            MPI_Recv(in[1], n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in[1])
            for (int i = 0; i < n; i++)
                u[i] += in[0][i] + 2 * in[1][n - 1 - i];
        }
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(out[0]);
    free(out);
    free(in[0]);
    free(in);
    MPI_Finalize();
    return 0;
}
