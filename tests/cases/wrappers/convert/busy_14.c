/* The size is a member of a struct, which the wrapper leaves alone; the place is found by a number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
struct halo {
    double *b, *r;
    long bytes;
};
static struct halo h[3];
static int calls;
static void *get(size_t bytes)
{
    void *p = malloc(bytes);

    if (p == NULL)
        exit(1);
    calls++;
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
    for (int k = 0; k < 3; k++) {
        h[k].bytes = N * sizeof(double);
        h[k].b = get(h[k].bytes);
        h[k].r = get(h[k].bytes);
    }
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                h[step].b[i] = u[i] + step;
            MPI_Send(h[step].b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(h[step].b)
        } else if (rank == 1) {
            MPI_Recv(h[step].r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(h[step].r)
            for (int i = 0; i < N; i++)
                v[i] += h[step].r[i];
        }
    }
    for (int k = 0; k < 3; k++) {
        free(h[k].b);
        free(h[k].r);
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    printf("%d\n", calls);
    MPI_Finalize();
    return 0;
}
