/* What is skipped takes no argument: the second is the partner. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int nx, up, down;
    double factor;
} Parameters;

static double u[3000];

static void setup(Parameters *p, const char *text, int rank, int size)
{
    p->up = (rank + 1) % size;
    p->down = (rank + size - 1) % size;
    p->factor = 0.5;
    if (sscanf(text, "%d %*d %d %lf", &p->nx, &p->down, &p->factor) < 1)
        exit(1);
}

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;
    Parameters p;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    setup(&p, argc > 5 ? argv[5] : "700 1", rank, size);
    double *s = malloc(p.nx * sizeof *s), *r = malloc(p.nx * sizeof *r);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < p.nx; i++)
            s[i] = p.factor * i + rank + u[i];
        MPI_Sendrecv(s, p.nx, MPI_DOUBLE, p.up, 0, r, p.nx, MPI_DOUBLE, p.down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(s) keep(r) OPI203
        for (int i = 0; i < p.nx; i++)
            u[i] += r[i];
    }
    for (int i = 0; i < p.nx; i++)
        total += u[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    free(s);
    free(r);
    MPI_Finalize();
    return 0;
}
