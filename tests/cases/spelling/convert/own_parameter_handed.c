/* The function sets its parameters to memory of its own, and hands them on to functions that send and receive. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void put(void *data, int n, int to)
{
    MPI_Send(data, n, MPI_DOUBLE, to, 4, MPI_COMM_WORLD); //~ give(data)
}

static void get(void *data, int n, int from)
{
    MPI_Recv(data, n, MPI_DOUBLE, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(data)
}

static void edges(double *u, int n, int up, int down, double *out, double *in)
{
    out = malloc(n * sizeof *out);
    in = malloc(n * sizeof *in);
    if (down >= 0) {
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            out[i] = 2 * u[i];
        put(out, n, down);
    }
    if (up >= 0) {
        get(in, n, up);
        for (int i = 0; i < n; i++)
            u[i] += in[i];
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    int rank, size, n = 400;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *u = malloc(n * sizeof *u);
    for (int i = 0; i < n; i++)
        u[i] = rank + 0.25 * i;
    for (int t = 0; t < 3; t++)
        edges(u, n, rank - 1, rank + 1 < size ? rank + 1 : -1, NULL, NULL);
    for (int i = 0; i < n; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(u);
    MPI_Finalize();
    return 0;
}
