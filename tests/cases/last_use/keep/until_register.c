/* The struct that holds the pointer has no address. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 40
#define M 30

struct grid {
    double *data;
    int n;
};

static double **make(int n, int m)
{
    double *data = malloc(n * m * sizeof(double));
    double **rows = malloc(n * sizeof(double *));
    for (int i = 0; i < n; i++)
        rows[i] = &data[i * m];
    return rows;
}

static void fill(double **p, int k)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            p[i][j] = i * 1.5 + j + k;
}

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        register struct grid g;
        static double *also;
        g.data = malloc(N * M * sizeof(double));
        also = g.data;
        for (int i = 0; i < N * M; i++)
            also[i] = i * 0.5;
        MPI_Send(g.data, N * M, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ keep
        free(g.data);
    } else if (rank == 1) {
        static double in[N * M];
        MPI_Recv(in, N * M, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N * M; i++)
            s += in[i] * (i % 7 + 1);
    }
    printf("%d %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
