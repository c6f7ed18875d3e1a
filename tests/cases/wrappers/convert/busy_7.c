/* One declaration of three pointers; only some carry messages, and the order of calls shows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int calls;
static double *get(size_t count, int *number)
{
    double *p = malloc(count * sizeof *p);
    if (!p)
        abort();
    *number = ++calls;
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    int x, y, z;
    double *b = get(N, &x), *w = get(N, &y), *r = get(N, &z);
    for (int i = 0; i < N; i++)
        w[i] = i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
        w[step] += step;
    }
    total = w[2] + 100 * x + 1000 * y + 10000 * z;
    free(b);
    free(w);
    free(r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
