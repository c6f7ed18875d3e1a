/* Six faces of a box, of three sizes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double out[400], in[400], u[400];
static int side[3];

static void pack_and_send(int a, int b, int c, int peer, MPI_Request *q)
{
    int i;
    for (i = 0; i < a; ++i)
        out[i] = u[i];
    for (i = 0; i < b; ++i)
        out[a + i] = u[60 + i];
    for (i = 0; i < c; ++i)
        out[a + b + i] = u[120 + i];
    for (i = 0; i < a; ++i)
        out[a + b + c + i] = u[180 + i];
    for (i = 0; i < b; ++i)
        out[2 * a + b + c + i] = u[240 + i];
    for (i = 0; i < c; ++i)
        out[2 * a + 2 * b + c + i] = u[300 + i];
    MPI_Isend(&out[0], a, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &q[0]); //~ give(out)
    MPI_Isend(&out[a], b, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q[1]); //~ give(out)
    MPI_Isend(&out[a + b], c, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &q[2]); //~ give(out)
    MPI_Isend(&out[a + b + c], a, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &q[3]); //~ give(out)
    MPI_Isend(&out[2 * a + b + c], b, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &q[4]); //~ give(out)
    MPI_Isend(&out[2 * a + 2 * b + c], c, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, &q[5]); //~ give(out)
    MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
}

static void receive(int peer)
{
    for (int k = 0; k < 6; k++) {
        MPI_Recv(in, side[k % 3], MPI_DOUBLE, peer, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int i = 0; i < side[k % 3]; i++)
            u[60 * k + i] += in[i];
    }
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
    MPI_Request q[6];
    for (int i = 0; i < 3; i++)
        side[i] = 10 * i + 9 + argc;
    for (int step = 0; step < 3; step++) {
        if (rank == step % 2)
            pack_and_send(side[0], side[1], side[2], peer, q);
        else
            receive(peer);
    }

    double sum = 0;
    for (int i = 0; i < 400; i++)
        sum += u[i] * (i % 7 + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
