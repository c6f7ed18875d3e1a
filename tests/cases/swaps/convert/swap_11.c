/* Two blocks change places where there is more than one rank; what malloc returns is tested in a function. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1024

typedef struct {
    double *now, *next;
} pair;

static double *block(size_t n)
{
    double *b = malloc(n * sizeof *b);
    if (!b) {
        fprintf(stderr, "out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return b;
}

static void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}

int main(int argc, char **argv)
{
    int rank, size;
    pair p;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    p.now = block(N);
    p.next = block(N);
    for (int i = 0; i < N; i++)
        p.now[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[2];
        for (int i = 0; i < N; i++)
            total += p.now[i] * (i + 1);
        MPI_Irecv(p.next, N, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD, &rq[0]); //~ take(p.next)
        MPI_Isend(p.now, N, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &rq[1]); //~ give(p.now)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        swap(&p.now, &p.next);
    }
    printf("%d: %.17g\n", rank, total);
    free(p.now);
    free(p.next);
    MPI_Finalize();
    return 0;
}
