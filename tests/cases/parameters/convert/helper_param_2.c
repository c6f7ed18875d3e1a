/* One helper packs, sends, receives and unpacks; main owns the buffers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

static void exchange(const double *in, double *out, double *s, double *r, int n, int peer)
{
    MPI_Request rq[2];

    for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
        s[i] = 2.0 * in[i];
    MPI_Irecv(r, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[0]); //~ take(r)
    MPI_Isend(s, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[1]); //~ give(s)
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        out[i] += r[i];
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *s = malloc(N * sizeof(double)), *r = malloc(N * sizeof(double));
    if (rank < 2) {
        for (int step = 0; step < 3; step++) {
            exchange(u, v, s, r, N, 1 - rank);
        }
    }
    free(s);
    free(r);
    if (rank == 1) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
