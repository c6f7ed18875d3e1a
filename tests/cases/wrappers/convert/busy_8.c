/* Allocated and freed in each turn; the wrapper looks at the clock. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double spent;
static void *get(size_t bytes)
{
    double begin = MPI_Wtime();
    void *p = malloc(bytes);
    if (p == NULL) {
        perror("get");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    spent += MPI_Wtime() - begin;
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

    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            double *b = get(N * sizeof *b);
            for (int i = 0; i < N; i++)
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
            free(b);
        } else if (rank == 1) {
            double *r = get(N * sizeof *r);
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
            free(r);
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %d\n", rank, total, spent >= 0);
    MPI_Finalize();
    return 0;
}
