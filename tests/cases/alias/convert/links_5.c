/* Tables of pointers on the heap, filled as far as there are neighbours. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int nnbr, *nbr;
static double **out, **in;
static MPI_Request *rq;

static void connect(int rank, int size, int n)
{
    nbr = malloc((size_t)size * sizeof *nbr);
    out = calloc((size_t)size, sizeof *out);
    in = calloc((size_t)size, sizeof *in);
    rq = malloc(2 * (size_t)size * sizeof *rq);
    for (int q = 0; q < size; q++) {
        if (q == rank)
            continue;
        nbr[nnbr] = q;
        out[nnbr] = malloc((size_t)n * sizeof(double));
        in[nnbr] = malloc((size_t)n * sizeof(double));
        nnbr++;
    }
}

static void exchange(double *u, int n)
{
    for (int k = 0; k < nnbr; k++)
        MPI_Irecv(in[k], n, MPI_DOUBLE, nbr[k], 5, MPI_COMM_WORLD, &rq[k]); //~ take(in[k])
    for (int k = 0; k < nnbr; k++) {
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            out[k][i] = u[i] + k;
        MPI_Isend(out[k], n, MPI_DOUBLE, nbr[k], 5, MPI_COMM_WORLD, &rq[nnbr + k]); //~ give(out[k])
    }
    MPI_Waitall(2 * nnbr, rq, MPI_STATUSES_IGNORE);
    for (int k = 0; k < nnbr; k++)
        for (int i = 0; i < n; i++)
            u[i] += 0.5 * in[k][i];
}

int main(int argc, char **argv)
{
    int rank, size, n = 200;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *u = malloc((size_t)n * sizeof(double)), s = 0;
    for (int i = 0; i < n; i++)
        u[i] = i % 7 + rank;
    connect(rank, size, n);
    for (int t = 0; t < 3; t++)
        exchange(u, n);
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    for (int k = 0; k < nnbr; k++) {
        free(out[k]);
        free(in[k]);
    }
    free(nbr);
    free(out);
    free(in);
    free(rq);
    free(u);
    MPI_Finalize();
    return 0;
}
