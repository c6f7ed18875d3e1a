/* A function that frees through its parameter counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

static void make(int n, double **p)
{
    (void)__func__; /* no other function has this text */
    *p = malloc(n * sizeof **p);
}

static int freed;

static void done(double **p)
{
    (void)__func__; /* no other function has this text */
    free(*p);
    *p = NULL;
    freed++;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    make(N, &out);
    make(N, &in);
    if (rank == 0) {
        for (int i = 0; i < N; i++) 
            out[i] = 2.0 * u[i];
        MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out)
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
        for (int i = 0; i < N; i++)
            v[i] = in[i];
    }
    done(&out);
    done(&in);
    total += freed;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
