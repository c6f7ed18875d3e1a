/* A loop tells the compiler what it may assume, in words of the compiler that are no functions. */
//~ analyse main.c
//~ flags -fopenmp
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

void __assume(int);
void __assume_aligned(const void *, int);

static double in[N], out[N];

static void step(const double *a, double *b, int n)
{
#pragma omp simd
    for (int i = 0; i < n; i++) {
        __assume(n % 8 == 0);
        __assume_aligned(a, 16);
        __builtin_prefetch(b);
        b[i] = 0.5 * a[i];
    }
}

int main(int argc, char **argv)
{
    int rank, n = argc < 9 ? N : 8;
    double total = 0.0;
    double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        a[i] = b[i] = i;
    for (int t = 0; t < 3; t++) {
        step(a, b, n);
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = b[i] + t;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
        double *c = a;
        a = b;
        b = c;
    }
    printf("%d: %.17g\n", rank, total);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
