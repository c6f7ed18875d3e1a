/* The lengths are products of members of a struct that is given by value. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct grid {
    int nx, fields;
};

static double total;

static void exchange(const struct grid g, const double *cells, int rank, int size)
{
    double out[2 * g.nx * g.fields], in[2 * g.nx * g.fields];
    MPI_Request req[2];

    for (int i = 0; i < 2 * g.nx * g.fields; i++)
        out[i] = cells[i] + rank;
    MPI_Irecv(in, 2 * g.nx * g.fields, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &req[0]); //~ take(in)
    MPI_Isend(out, 2 * g.nx * g.fields, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD, &req[1]); //~ give(out)
    MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * g.nx * g.fields; i++)
        total += in[i] * (i % 7 + 1);
}

int main(int argc, char **argv)
{
    int rank, size;
    struct grid g = { 300, 4 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *cells = malloc(2 * g.nx * g.fields * sizeof *cells);
    for (int i = 0; i < 2 * g.nx * g.fields; i++)
        cells[i] = 0.5 * i;
    for (int t = 0; t < 3; t++)
        exchange(g, cells, rank, size);
    printf("%d: %.17g\n", rank, total);
    free(cells);
    MPI_Finalize();
    return 0;
}
