#include "halo.h"
#include <mpi.h>
#include <stdio.h>

#define N 600

static double out[N], in[N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;
    struct halo h = {0, N};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                out[i] = i * t;
            put(out, N, 1);
        } else if (rank == 1) {
            get(in, N, 0);
            h.get++;
            for (int i = 0; i < h.n; i++)
                sum += in[i] * (i % 7) + h.get;
        }
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}

static void put(double *buf, int n, int to)
{
    MPI_Send(buf, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ give(buf)
}

static void get(double *buf, int n, int from)
{
    MPI_Recv(buf, n, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(buf)
}
