/* A number that MPI brings into a union is read as a byte where the buffer is packed, and as an int where it is sent. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 600

static double u[N], v[N];
static double sbuf[N], rbuf[N];
static union {
    unsigned char few;
    int many;
} n;

int main(int argc, char **argv)
{
    int rank, number = 300;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) {
        u[i] = rank + 0.5 * i;
        sbuf[i] = 7;
    }
    if (rank == 0)
        memcpy(&n, &number, sizeof number);
    MPI_Bcast(&n, sizeof number, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
            for (int i = 0; i < n.few; i++)
                sbuf[i] = u[i] + turn;
            MPI_Send(sbuf, n.many, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(rbuf, n.many, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < n.many; i++)
                v[i] += rbuf[i];
        }
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
