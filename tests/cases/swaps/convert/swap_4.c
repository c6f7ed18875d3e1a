/* Messages and the swap only where there is a neighbour; two pairs that share the function that swaps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct pair {
    double *now, *next;
    int len;
};

static void swap(double **x, double **y)
{
    double *t = *x;
    *x = *y;
    *y = t;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    int many = size > 1;
    struct pair p, q;
    p.now = malloc(N * sizeof(double));
    p.next = malloc(N * sizeof(double));
    q.now = malloc(N * sizeof(double));
    q.next = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++) {
        p.now[i] = u[i];
        q.now[i] = 2.0 * u[i];
    }
    for (int step = 0; step < 4; step++) {
        MPI_Request rq[4];
        int n = 0;
        if (many) {
            MPI_Irecv(p.next, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[n++]); //~ take(p.next)
            MPI_Isend(p.now, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq[n++]); //~ give(p.now)
        }
        MPI_Irecv(q.next, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &rq[n++]); //~ take(q.next)
        MPI_Isend(q.now, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &rq[n++]); //~ give(q.now)
        MPI_Waitall(n, rq, MPI_STATUSES_IGNORE);
        if (many)
            swap(&p.now, &p.next);
        swap(&q.now, &q.next);
        for (int i = 0; i < N; i++)
            v[i] += p.now[i] * q.now[i];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(p.now);
    free(p.next);
    free(q.now);
    free(q.next);
    MPI_Finalize();
    return 0;
}
