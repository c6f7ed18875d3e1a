/* The member that is the source is what is read from a text. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct setup {
    int cells, steps, below, above;
};

static double in[100], out[100];

static double go(struct setup p, int t)
{
    double sum = 0;
    for (int i = 0; i < 100; i++)
        out[i] = i + t;
    MPI_Sendrecv(out, 100, MPI_DOUBLE, p.above, 0, in, 100, MPI_DOUBLE, p.below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI203
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
    p.above = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
    char text[40];
    snprintf(text, sizeof text, "12 %d", rank > 0 ? rank - 1 : MPI_PROC_NULL);
    if (sscanf(text, "%d %d", &p.cells, &p.below) != 2)
        return 1;
    for (int t = 0; t < 3; t++)
        sum += go(p, t);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
