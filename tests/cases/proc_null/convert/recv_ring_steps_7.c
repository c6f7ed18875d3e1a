/* A torus of the dimensions that MPI finds; the sides come from a table of steps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 512

typedef struct {
    int grid[2], place[2];
    double low[2];
    int from, to;
} torus;

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static int rank_at(const torus *t, int x, int y)
{
    return (x + t->grid[0]) % t->grid[0] * t->grid[1] + (y + t->grid[1]) % t->grid[1];
}

int main(int argc, char **argv)
{
    int rank, size, n = argc > 1 ? atoi(argv[1]) : N;
    torus t = { { 0, 0 }, { 0, 0 }, { 0.0, 0.0 }, 0, 0 };

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, t.grid);
    t.place[0] = rank / t.grid[1];
    t.place[1] = rank % t.grid[1];
    for (int k = 0; k < 2; k++)
        t.low[k] = 0.5 * n * t.place[k];
    for (int side = 0; side < 2; side++) {
        int step[2] = { 0, 0 };
        step[0] = side ? 1 : -1;
        t.to = rank_at(&t, t.place[0] + step[0], t.place[1] + step[1]);
        t.from = rank_at(&t, t.place[0] - step[0], t.place[1] - step[1]);
        for (int i = 0; i < N; i++)
            u[i] = rank + 0.5 * i + t.low[0];
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i] + side;
        MPI_Sendrecv(sbuf, N, MPI_DOUBLE, t.to, 7, rbuf, N, MPI_DOUBLE, t.from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
        for (int i = 0; i < N; i++)
            v[i] += rbuf[i];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
