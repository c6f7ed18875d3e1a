/* One struct per direction holds buffers, neighbour and requests. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

#define D 4

static double u[N], v[N];

struct link {
    double out[N], in[N];
    int peer;
    MPI_Request rr, rs;
};

static struct link ln[D];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int d = 0; d < D; d++)
        ln[d].peer = 1 - rank;
    for (int d = 0; d < D; d++)
        MPI_Irecv(ln[d].in, N, MPI_DOUBLE, ln[d].peer, d, MPI_COMM_WORLD, &ln[d].rr); //~ take(ln[d].in)
    for (int d = 0; d < D; d++) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            ln[d].out[i] = u[i] * (d + 1);
        MPI_Isend(ln[d].out, N, MPI_DOUBLE, ln[d].peer, d, MPI_COMM_WORLD, &ln[d].rs); //~ give(ln[d].out)
    }
    for (int d = 0; d < D; d++) {
        MPI_Wait(&ln[d].rr, MPI_STATUS_IGNORE);
        MPI_Wait(&ln[d].rs, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += ln[d].in[i] * (d + 1);
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
