/* One buffer each for all routines: some send numbers of their own, some counts, by a pointer of another type. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *out, *in;
static int room;

static void fit(int n)
{
    if (n > room) {
        room = (int)(2.0 * (double)n);
        free(out);
        free(in);
        out = malloc(room * sizeof *out);
        in = malloc(room * sizeof *in);
    }
}

static void numbers(int rank, int n)
{
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            out[i] = u[i] + n;
        MPI_Send(out, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
    } else {
        MPI_Recv(in, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int i = 0; i < n; i++)
            v[i] += in[i];
    }
}

static void counts(int rank, int n)
{
    int *out_int = (int *)out, *in_int = (int *)in;
    if (rank == 0) {
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            out_int[i] = 3 * i + n;
        MPI_Send(out_int, n, MPI_INT, 1, 8, MPI_COMM_WORLD); //~ give(out)
    } else {
        MPI_Recv(in_int, n, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int i = 0; i < n; i++)
            v[i] += in_int[i];
    }
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    room = 100;
    out = malloc(room * sizeof *out);
    in = malloc(room * sizeof *in);
    for (int step = 0; step < 6; step++) {
        int n = (step % 3 + 1) * (N / 4);
        fit(n);
        if (rank < 2) {
            numbers(rank, n);
            counts(rank, 150);
        }
    }
    free(out);
    free(in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
