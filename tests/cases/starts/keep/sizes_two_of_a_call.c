/* Two sizes of one call: one of no turn of the loop, the other of each, and negative in some that never come to the call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double buf[400], u[400];
static int many[5];

static void rounds(int n, int k, int peer)
{
    int step = 0;
    for (;;) {
        int m = many[step];
        MPI_Request q;
        for (int i = 0; i < n; i++)
            buf[i] = u[i];
        for (int i = 0; i < k; i++)
            buf[n + m + i] = u[200 + i];
        MPI_Isend(&buf[n + m], k, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q); //~ keep
        for (int i = 0; i < n; i++)
            u[i] += 0.5 * buf[i];
        MPI_Recv(&u[300], k, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        if (m < 0) {
            step++;
            continue;
        }
        MPI_Sendrecv(&buf[0], n, MPI_DOUBLE, peer, 2, &buf[n], m, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < m; i++)
            u[100 + i] += buf[n + i];
        if (step++ == 3)
            break;
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 400; i++)
        u[i] = i + 100 * rank;
    for (int i = 0; i < 5; i++)
        many[i] = i % 2 ? -2 * argc : 10 * argc;
    many[3] = 10 * argc;
    rounds(argc + 9, argc + 4, rank ^ 1);
    double sum = 0;
    for (int i = 0; i < 400; i++)
        sum += u[i] * (i % 7 + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
