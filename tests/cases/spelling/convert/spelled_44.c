/* A comment in the size goes on in the next line. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 300

struct halo {
    double *out;
};
static int frees;

static void release(double *p)
{
    frees++;
    free(p);
}

static void step(struct halo *h, int rank, int t, double *sum)
{
    static double in[N];
    if (rank == 0) {
        h->out = malloc(N // numbers, \
                               of 8 bytes
                        * sizeof *h->out);
        for (int i = 0; i < N; i++)
            h->out[i] = i + t;
        MPI_Send(h->out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(out)
        release(h->out);
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        *sum += in[5];
    }
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    struct halo h;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++)
        step(&h, rank, t, &sum);
    printf("%d %g %d\n", rank, sum, frees);
    MPI_Finalize();
    return 0;
}
