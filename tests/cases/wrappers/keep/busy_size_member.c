/* A wrapper changes a member of a struct that the size is read from; other members are pointers to messages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
struct halo {
    double *b, *r;
    long bytes;
};
static struct halo h;
static int calls;
static void *get(size_t bytes)
{
    void *p = malloc(bytes);

    if (p == NULL)
        exit(1);
    calls++;
    h.bytes /= 8;
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
    h.bytes = N * sizeof(double);
    h.b = get(h.bytes);
    h.bytes = N * sizeof(double);
    h.r = get(h.bytes);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                h.b[i] = u[i] + step;
            MPI_Send(h.b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(h.b)
        } else if (rank == 1) {
            MPI_Recv(h.r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(h.r)
            for (int i = 0; i < N; i++)
                v[i] += h.r[i];
        }
    }
    free(h.b);
    free(h.r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    printf("%d %ld\n", calls, h.bytes);
    MPI_Finalize();
    return 0;
}
