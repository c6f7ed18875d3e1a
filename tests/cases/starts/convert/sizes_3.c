/* What is sent last is packed first; other calls wait for none of them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static float out[400], in[400];
static double u[400];

static void put(int a, int b, int c, int peer)
{
    for (int k = 0; k < c; k++)
        out[a + b + k] = u[200 + k];
    for (int k = 0; k < b; k++)
        out[a + k] = u[100 + k];
    for (int k = 0; k < a; k++)
        out[k] = u[k];
    MPI_Send(out, a, MPI_FLOAT, peer, 0, MPI_COMM_WORLD); //~ give(out)
    MPI_Send(out + a, b, MPI_FLOAT, peer, 1, MPI_COMM_WORLD); //~ give(out)
    MPI_Send(&out[a + b], c, MPI_FLOAT, peer, 2, MPI_COMM_WORLD); //~ give(out)
}

static void get(int a, int b, int c, int peer)
{
    MPI_Recv(in, a, MPI_FLOAT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    MPI_Recv(in + a, b, MPI_FLOAT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    MPI_Recv(&in[a + b], c, MPI_FLOAT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    for (int k = 0; k < a; k++)
        u[k] += in[k];
    for (int k = 0; k < b; k++)
        u[100 + k] += in[a + k];
    for (int k = 0; k < c; k++)
        u[200 + k] += in[a + b + k];
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
    for (int step = 0; step < 3; step++) {
        if (rank == 0)
            put(argc + 9, argc + 19, argc + 29, peer);
        else
            get(argc + 9, argc + 19, argc + 29, peer);
    }

    double sum = 0;
    for (int i = 0; i < 400; i++)
        sum += u[i] * (i % 7 + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
