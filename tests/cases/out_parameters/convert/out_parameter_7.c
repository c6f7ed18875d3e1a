/* What allocates is given the address of the pointer as a void **, and says so. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double v[N];

static void make(void **p, size_t bytes)
{
    fprintf(stderr, "allocates %d bytes\n", (int)bytes);
    *p = malloc(bytes);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *a, *b;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make((void **)&a, N * sizeof *a);
    make((void **)&b, N * sizeof *b);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                a[i] = i + step;
            MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            for (int i = 0; i < N; i++)
                v[i] += b[i];
        }
    }
    free(a);
    free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
