/* The local variable that has the memory first is declared ahead, and set once. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
struct halo {
    double *out, *in;
};

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    struct halo h;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *s;
    s = malloc(N * sizeof *s);

    if (!s)
        abort();
    h.in = malloc(N * sizeof *h.in);
    if (argc > 5) {
        free(s);
        return 1;
    }
    h.out = s;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                h.out[i] = u[i] + step;
            MPI_Send(h.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(h.out)
        } else if (rank == 1) {
            MPI_Recv(h.in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(h.in)
            for (int i = 0; i < N; i++)
                v[i] += h.in[i];
        }
    }
    free(h.out);
    free(h.in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
