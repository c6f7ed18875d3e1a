/* A cycle over levels, each a struct with arrays of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double out[N], in[N];
struct level {
    int n;
    double *x, *r;
};
static struct level levels[4];

static void cycle(int l)
{
    struct level *me = &levels[l];

    for (int i = 0; i < me->n; i++)
        me->r[i] = 0.5 * me->x[i] + l;
    if (l < 3) {
        for (int i = 0; i < levels[l + 1].n; i++)
            levels[l + 1].x[i] = me->r[2 * i];
        cycle(l + 1);
        for (int i = 0; i < levels[l + 1].n; i++)
            me->x[2 * i] += levels[l + 1].x[i];
    }
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int l = 0; l < 4; l++) {
        levels[l].n = N >> l;
        levels[l].x = calloc(levels[l].n, sizeof(double));
        levels[l].r = calloc(levels[l].n, sizeof(double));
    }
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
            cycle(0);
            u[step] += levels[0].x[step];
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                v[i] += in[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
