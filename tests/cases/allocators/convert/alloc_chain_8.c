/* The variables that a size is reckoned in are set after they are declared. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static long given;

static void *need(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return p;
}

static double *numbers(long n)
{
    long bits, bytes; /* bits: more than an int holds */
    double *p;

    bits = n * 1048576;
    bytes = bits / 131072;
    p = need(bytes);
    given += n;
    return p;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *b = numbers(N);
    double *r = numbers(N);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                b[i] = u[i] + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
    }
    free(b);
    free(r);
    total += 0 * given;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
