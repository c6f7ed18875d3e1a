/* The pointers are members of a struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct exchange {
    double *out, *in;
    int n;
};

static int rank, size;

static void halo(int nx, int ny, double *cells, double *sbuf, double *rbuf)
{
    int up = (rank + 1) % size, down = (rank - 1 + size) % size;

    for (int i = 0; i < nx; i++)
        sbuf[i] = cells[i + nx];
    MPI_Sendrecv(sbuf, nx, MPI_DOUBLE, down, 0, rbuf, nx, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
    for (int i = 0; i < nx; i++)
        cells[i + nx * (ny + 1)] = rbuf[i];
    for (int i = 0; i < nx; i++)
        sbuf[i] = cells[i + nx * ny];
    MPI_Sendrecv(sbuf, nx, MPI_DOUBLE, up, 0, rbuf, nx, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
    for (int i = 0; i < nx; i++)
        cells[i] = rbuf[i];
}

static void init(struct exchange *x, int n)
{
    x->n = n;
    x->out = malloc(n * sizeof *x->out);
    x->in = malloc(n * sizeof *x->in);
}

static void run(struct exchange *x, int ny, double *c)
{
    halo(x->n, ny, c, x->out, x->in);
}

int main(int argc, char **argv)
{
    int nx = 600, ny = 4;
    double total = 0.0;
    struct exchange x;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *cells = malloc(nx * (ny + 2) * sizeof *cells);
    for (int i = 0; i < nx * (ny + 2); i++)
        cells[i] = i % 17 + rank;
    init(&x, nx);
    for (int step = 0; step < 3; step++) {
        run(&x, ny, cells);
        for (int i = nx; i < nx * (ny + 1); i++)
            cells[i] = 0.5 * cells[i - nx] + 0.25 * cells[i + nx];
    }
    for (int i = nx; i < nx * (ny + 1); i++)
        total += cells[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    free(x.out);
    free(x.in);
    free(cells);
    MPI_Finalize();
    return 0;
}
