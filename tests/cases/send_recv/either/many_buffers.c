/* Eight buffers with names of their own in one declaration. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double a[N], b[N], c[N], d[N], ra[N], rb[N], rc[N], rd[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    MPI_Request rq[8];
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    MPI_Irecv(ra, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[0]);
    MPI_Irecv(rb, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &rq[1]);
    MPI_Irecv(rc, N, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &rq[2]);
    MPI_Irecv(rd, N, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &rq[3]);
    for (int i = 0; i < N; i++)
        a[i] = u[i], b[i] = 2.0 * u[i], c[i] = 3.0 * u[i], d[i] = 4.0 * u[i];
    MPI_Isend(a, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[4]);
    MPI_Isend(b, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &rq[5]);
    MPI_Isend(c, N, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &rq[6]);
    MPI_Isend(d, N, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &rq[7]);
    MPI_Waitall(8, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = ra[i] - rb[i] + 5.0 * rc[i] - 7.0 * rd[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
