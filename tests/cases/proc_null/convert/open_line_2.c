/* The line comes from MPI_Cart_shift, the ghost cells of its ends from calloc. */
//~ replaces: MPI_Irecv from MPI_PROC_NULL leaves the zeros of calloc, and so does OPI_Itake_replace
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double v[N];

static void shift(MPI_Comm line, double *in, int n, int turn)
{
    int from, to, rank;
    MPI_Request request;
    double *out = malloc(n * sizeof *out);

    MPI_Comm_rank(line, &rank);
    MPI_Cart_shift(line, 0, 1, &from, &to);
    for (int i = 0; i < n; i++)
        out[i] = v[i] + rank + 0.5 * i * turn;
    MPI_Irecv(in, n, MPI_DOUBLE, from, 5, line, &request); //~ take(in)
    MPI_Send(out, n, MPI_DOUBLE, to, 5, line); //~ give(out)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        v[i] += in[i];
    free(out);
}

int main(int argc, char **argv)
{
    int rank, size, open = 0;
    MPI_Comm line;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open, 0, &line);
    double *ghost = calloc(N, sizeof *ghost);
    for (int turn = 0; turn < 3; turn++)
        shift(line, ghost, N, turn);
    free(ghost);
    MPI_Comm_free(&line);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
