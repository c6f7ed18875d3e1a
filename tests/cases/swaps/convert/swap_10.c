/* The same with pointers in a struct, the second one first; a block that nobody needs any more goes on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct pair {
    double *now, *next;
};

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    struct pair p;
    p.now = malloc(N * sizeof(double));
    p.next = malloc(N * sizeof(double));
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < N; i++)
            p.now[i] = u[i] + step;
        if (rank == 0) {
            MPI_Send(p.now, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD); //~ give(p.now)
        } else {
            MPI_Recv(p.next, N, MPI_DOUBLE, peer, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(p.next)
            for (int i = 0; i < N; i++)
                v[i] += p.next[i];
        }
        double *t = p.next;
        p.next = p.now;
        p.now = t;
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(p.now);
    free(p.next);
    MPI_Finalize();
    return 0;
}
