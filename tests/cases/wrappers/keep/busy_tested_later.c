/* The pointer is tested after a send, and the program goes on without memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int calls;
static void *get(size_t bytes)
{
    void *p = malloc(bytes);

    if (p == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
    }
    calls++;
    if (getenv("SHOW_MEMORY"))
        printf("%zu bytes\n", bytes);
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
    double *b = get(N * sizeof *b);
    double *r = get(N * sizeof *r);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b[i] = u[i];
        MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
        if (b == NULL)
            v[1] += 1.0;
    } else if (rank == 1) {
        MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(r)
        if (r == NULL)
            v[1] += 1.0;
        for (int i = 0; i < N; i++)
            v[i] += r[i];
    }
    free(b);
    free(r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %d\n", rank, total, calls);
    MPI_Finalize();
    return 0;
}
