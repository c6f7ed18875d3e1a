/* The same with a pointer that walks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

struct pair {
    double re, im;
};

static struct pair add(struct pair a, struct pair b)
{
    struct pair r;
    r.re = a.re + b.re;
    r.im = a.im - b.im;
    return r;
}

static struct pair sum(struct pair *v, int n)
{
    struct pair t = {0.0, 0.0};
    for (struct pair *p = v; p < v + n; p++)
        t = add(t, *p);
    return t;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct pair *cells = malloc(N * sizeof(struct pair));
    for (int i = 0; i < N; i++) {
        cells[i].re = rank + i;
        cells[i].im = 0.5 * i;
    }
    struct pair total = {0.0, 0.0};
    if (rank == 0)
        MPI_Send(cells, 2 * N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(cells)
    else if (rank == 1) {
        MPI_Recv(cells, 2 * N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(cells)
        total = sum(cells, N);
    }
    printf("%d: %.17g %.17g\n", rank, total.re, total.im);
    free(cells);
    MPI_Finalize();
    return 0;
}
