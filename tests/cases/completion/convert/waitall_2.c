/* Two buffers each way, four requests. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double s1[N], s2[N], r1[N], r2[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    MPI_Request rq[4];
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    MPI_Irecv(r1, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, rq); //~ take(r1)
    MPI_Irecv(r2, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, rq + 1); //~ take(r2)
    for (int i = 0; i < N; i++) { //~ hole: i = 0 => i = 1
        s1[i] = u[i];
        s2[i] = -u[i];
    }
    MPI_Isend(s1, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, rq + 2); //~ give(s1)
    MPI_Isend(s2, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, rq + 3); //~ give(s2)
    MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = r1[i] - 3.0 * r2[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
