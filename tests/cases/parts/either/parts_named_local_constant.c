/* A constant of a function has the name of a variable of the file. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N];
static double *in, *out;
static int n_of_part;

static void get(int k)
{
    enum { n_of_part = 4 };

    in = malloc(2 * k * sizeof(double) + n_of_part - 4);
}

static void name(void)
{
    out = in + n_of_part;
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    n_of_part = n;
    get(n);
    name();
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[2];

        MPI_Irecv(in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]);
        for (int i = 0; i < n; i++)
            out[i] = u[i] + step;
        MPI_Isend(out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]);
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            u[i] += in[i];
    }
    free(in);
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
