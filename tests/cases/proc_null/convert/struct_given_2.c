/* The same: the neighbours come last, by a pointer to the struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct setup {
    int cells, steps, below, above;
};

static void start(struct setup *p, const char *text, int rank, int size)
{
    if (sscanf(text, "%d %d", &p->cells, &p->steps) != 2)
        exit(1);
    p->below = rank == 0 ? size - 1 : rank - 1;
    p->above = rank == size - 1 ? 0 : rank + 1;
}

static double in[100], out[100];

static double go(const struct setup p, int t)
{
    double sum = 0;
    for (int i = 0; i < 100; i++)
        out[i] = i + t;
    MPI_Sendrecv(out, 100, MPI_DOUBLE, p.above, 0, in, 100, MPI_DOUBLE, p.below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    for (int i = 0; i < 100; i++)
        sum += in[i] * (i + 1);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct setup p;
    start(&p, argc > 9 ? argv[1] : "12 3", rank, size);
    for (int t = 0; t < 3; t++)
        sum += go(p, t);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
