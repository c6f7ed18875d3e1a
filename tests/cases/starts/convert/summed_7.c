/* Two ways to place the messages: they are beside one another on both. */
#include <mpi.h>
#include <stdio.h>

static int size_a, size_b, at_a, at_b;
static double u[40], got[40], in[200], out[200];

static void measure(int apart, int n)
{
    size_a = size_b = n;
    if (!apart) {
        at_a = 20;
        at_b = 20 + n;
        return;
    }
    at_a = 4;
    at_b = 4 + n;
}

static void exchange(int peer)
{
    MPI_Request q[2];
    for (int j = 0; j < size_a; j++)
        out[at_a + j] = u[j % 40];
    for (int j = 0; j < size_b; j++)
        out[at_b + j] = u[j % 40] + 1;
    MPI_Isend(&out[at_a], size_a, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q[0]); //~ give(out)
    MPI_Isend(&out[at_b], size_b, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &q[1]); //~ give(out)
    MPI_Recv(in, size_a, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 0; j < size_a; j++)
        got[j % 40] += in[j];
    MPI_Recv(in, size_b, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 0; j < size_b; j++)
        got[j % 40] += 3 * in[j];
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = rank ^ 1;
    for (int j = 0; j < 40; j++)
        u[j] = rank * 1000 + j;
    measure(argc > 5, 40 + argc);
    for (int step = 0; step < 3; step++) {
        if (peer < size)
            exchange(peer);
        for (int j = 0; j < 40; j++)
            u[j] += 0.5 * got[j];
    }
    double sum = 0;
    for (int j = 0; j < 40; j++)
        sum += u[j] * (j % 7 + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
