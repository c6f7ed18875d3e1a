/* An array of structs holds pointers to the rows of the buffers; everything
 * goes through it. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

#define D 3

static double u[N], v[N];
static double sbuf[D][N], rbuf[D][N];
static struct {
    double *out, *in;
} link[D];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    MPI_Request rq[2 * D];
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int d = 0; d < D; d++) {
        link[d].out = sbuf[d];
        link[d].in = rbuf[d];
    }
    for (int step = 0; step < 2; step++) {
        for (int d = 0; d < D; d++) {
            MPI_Irecv(link[d].in, N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[2 * d]);
            for (int i = 0; i < N; i++)
                link[d].out[i] = u[i] + d;
            MPI_Isend(link[d].out, N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[2 * d + 1]);
        }
        MPI_Waitall(2 * D, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < D; d++)
            for (int i = 0; i < N; i++)
                v[i] += link[d].in[i];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
