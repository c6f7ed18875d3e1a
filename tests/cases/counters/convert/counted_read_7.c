/* As much comes as was packed: both loops run over the same rows and columns. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rows, cols;
static double cells[4096], total;

static int pack(double *to, int shift)
{
    int n = 0;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            to[n++] = cells[(r * cols + c) % 4096] + shift;
    return n;
}

static void unpack(const double *from)
{
    int n = 0;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            total += from[n++] * (r + 2 * c + 1);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rows = 20 + argc;
    cols = 30 + argc;
    double *out = malloc(3000 * sizeof *out), *in = malloc(3000 * sizeof *in);
    for (int i = 0; i < 3000; i++)
        in[i] = -1000 - i;
    for (int i = 0; i < 4096; i++)
        cells[i] = 0.25 * i;
    for (int t = 0; t < 3; t++) {
        int n = pack(out, rank + t);
        MPI_Request req[2];
        MPI_Irecv(in, n, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &req[0]); //~ take(in)
        MPI_Isend(out, n, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD, &req[1]); //~ give(out)
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        unpack(in);
    }
    printf("%d: %.17g\n", rank, total);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
