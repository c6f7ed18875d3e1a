/* The buffers are named by structs of main's own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static void *need(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
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
    struct {
        double *b;
        int turns;
    } own;
    struct {
        int turns;
        double *r;
    } other;
    own.b = need(N * sizeof(double));
    other.r = need(N * sizeof(double));
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                own.b[i] = u[i] + step;
            MPI_Send(own.b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(own.b)
        } else if (rank == 1) {
            MPI_Recv(other.r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(other.r)
            for (int i = 0; i < N; i++)
                v[i] += other.r[i];
        }
    }
    free(own.b);
    free(other.r);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
