/* A struct of a function, which has other members, too; the request is one of them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24


static double u[N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? atoi(argv[5]) : N;
    double total = 0.0;
    struct {
        MPI_Request rq[2];
        double in[N], out[N];
        int peer;
    } halo;
    (void)n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        halo.peer = 1 - rank;
        if (rank < 2) {
            MPI_Irecv(halo.in, N, MPI_DOUBLE, halo.peer, 7, MPI_COMM_WORLD, &halo.rq[0]); //~ take(halo.in)
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                halo.out[i] = u[i] + t;
            MPI_Isend(halo.out, N, MPI_DOUBLE, halo.peer, 7, MPI_COMM_WORLD, &halo.rq[1]); //~ give(halo.out)
            MPI_Waitall(2, halo.rq, MPI_STATUSES_IGNORE);
            for (int i = 0; i < N; i++)
                u[i] += halo.in[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
