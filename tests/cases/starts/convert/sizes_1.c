/* Four messages lie beside one another in one array: that none has a negative count tells where each of them ends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double out[400], in[400], u[400];

static void exchange(int nx, int ny, int peer)
{
    MPI_Request q[8];
    for (int j = 1; j <= ny; j++)
        out[j - 1] = u[j * 10 + 1];
    for (int i = 1; i <= nx; i++)
        out[ny + i - 1] = u[10 + i];
    for (int j = 1; j <= ny; j++)
        out[ny + nx + j - 1] = u[j * 10 + 2];
    for (int i = 1; i <= nx; i++)
        out[2 * ny + nx + i - 1] = u[20 + i];
    MPI_Irecv(&in[0], ny, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &q[0]); //~ take(in)
    MPI_Irecv(&in[ny], nx, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q[1]); //~ take(in)
    MPI_Irecv(&in[ny + nx], ny, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &q[2]); //~ take(in)
    MPI_Irecv(&in[2 * ny + nx], nx, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &q[3]); //~ take(in)
    MPI_Isend(&out[0], ny, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &q[4]); //~ give(out)
    MPI_Isend(&out[ny], nx, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q[5]); //~ give(out)
    MPI_Isend(&out[ny + nx], ny, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &q[6]); //~ give(out)
    MPI_Isend(&out[2 * ny + nx], nx, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &q[7]); //~ give(out)
    MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
    for (int j = 1; j <= ny; j++)
        u[j * 10] += in[j - 1];
    for (int i = 1; i <= nx; i++)
        u[i] += in[ny + i - 1];
    for (int j = 1; j <= ny; j++)
        u[j * 10 + 9] += in[ny + nx + j - 1];
    for (int i = 1; i <= nx; i++)
        u[100 + i] += in[2 * ny + nx + i - 1];
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
    for (int step = 0; step < 3; step++)
        exchange(argc + 7, argc + 11, peer);

    double sum = 0;
    for (int i = 0; i < 400; i++)
        sum += u[i] * (i % 7 + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
