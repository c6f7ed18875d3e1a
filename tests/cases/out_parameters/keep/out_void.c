/* Pointers that are set as a void *: one whose old value is used, one that is a char * elsewhere, two that may change places. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N];

static void make(void **p, size_t bytes)
{
    puts("makes");
    *p = malloc(bytes);
}

static void turn(void **p, void **q)
{
    void *other = *p;
    puts("turns");
    *p = *q;
    *q = other;
}

static void fill(double *x, int k)
{
    for (int i = 0; i < N; i++)
        x[i] = i + k;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *a, *b, *c, *d;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make((void **)&a, N * sizeof *a);
    make((void **)&b, N * sizeof *b);
    make((void **)&c, N * sizeof *c);
    make((void **)&d, N * sizeof *d);
    void **place = (void **)&a;
    double *old = *place;
    char *start = *(char **)&b;
    fill(a, 1);
    fill(b, 2);
    fill(c, 3);
    fill(d, 4);
    turn((void **)&c, (void **)&d);
    if (rank == 0) {
        MPI_Send(a, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        MPI_Send(b, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD); //~ keep
        MPI_Send(c, N, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ keep
        turn((void **)&c, (void **)&d);
        total += old[5] + start[8] + d[7];
    } else if (rank == 1)
        for (int k = 1; k <= 3; k++) {
            MPI_Recv(u, N, MPI_DOUBLE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            total += u[k];
        }
    free(a);
    free(b);
    free(c);
    free(d);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
