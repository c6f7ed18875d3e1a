/* The same of a member, in a function, with the error told. */
#define _POSIX_C_SOURCE 200112L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct halo {
    int n;
    double *out;
};

static void init(struct halo *h, int n)
{
    h->n = n;
    if (posix_memalign((void **)&h->out, 64, n * sizeof(double))) {
        fprintf(stderr, "no memory\n");
        exit(1);
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
    struct halo h;
    init(&h, N);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                h.out[i] = u[i] + step;
            MPI_Send(h.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(h.out)
        } else if (rank == 1) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(h.out);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
