/* A function that only another configuration calls reads the buffer, which is a member of a struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

static double u[N], in[N];
static struct {
    double *out;
    int n;
} g;

static __attribute__((__unused__)) void show(const char *when)
{
    double s = 0;
    for (int i = 0; i < N; i++)
        s += g.out[i] * (i + 1);
    printf("%s %.17g\n", when, s);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    g.out = malloc(N * sizeof *g.out);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                g.out[i] = u[i] + step;
            MPI_Send(g.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(g.out)
#ifdef DEBUG
            show("after");
#endif
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(g.out);
    MPI_Finalize();
    return 0;
}
