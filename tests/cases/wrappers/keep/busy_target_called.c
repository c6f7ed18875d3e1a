/* A call finds the struct that keeps what a wrapper gives, and counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
struct halo {
    double *b, *r;
};
static struct halo only;
static int asked;
static struct halo *halo(void)
{
    asked++;
    return &only;
}
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
    halo()->b = get(N * sizeof(double));
    halo()->r = get(N * sizeof(double));
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                only.b[i] = u[i] + step;
            MPI_Send(only.b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(only.b)
        } else if (rank == 1) {
            MPI_Recv(only.r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(only.r)
            for (int i = 0; i < N; i++)
                v[i] += only.r[i];
        }
    }
    free(only.b);
    free(only.r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    printf("%d %d\n", calls, asked);
    MPI_Finalize();
    return 0;
}
