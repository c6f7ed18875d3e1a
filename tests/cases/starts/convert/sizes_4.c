/* Sizes that are others in each step, out of a table. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double out[400], in[400], u[400];
static int many[4];

static void exchange(int step, int peer)
{
    int n = many[step], m = many[step + 1];
    for (int k = 0; k < n; k++) {
        out[k] = u[k];
    }
    for (int k = 0; k < m; k++)
        out[n + k] = u[100 + k];
    for (int k = 0; k < n; k++)
        out[n + m + k] = u[200 + k];
    MPI_Request q[3];
    MPI_Isend(&out[0], n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &q[0]); //~ give(out)
    MPI_Isend(&out[n], m, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q[1]); //~ give(out)
    MPI_Isend(&out[n + m], n, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &q[2]); //~ give(out)
    MPI_Recv(&in[0], n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    MPI_Recv(&in[n], m, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    MPI_Recv(&in[n + m], n, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    for (int k = 0; k < n; k++)
        u[k] += in[k];
    for (int k = 0; k < m; k++)
        u[100 + k] += in[n + k];
    for (int k = 0; k < n; k++)
        u[200 + k] += in[n + m + k];
    MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = rank ^ 1;
    for (int i = 0; i < 400; i++)
        u[i] = i + 100 * rank;
    for (int i = 0; i < 4; i++)
        many[i] = 5 * i + 8 * argc;
    for (int step = 0; step < 3; step++)
        exchange(step, peer);

    double sum = 0;
    for (int i = 0; i < 400; i++)
        sum += u[i] * (i % 7 + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
