/* File-static arrays of structs, sent as bytes. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

typedef struct {
    double a;
    int b, c;
} cell;

static cell sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++) {
            sbuf[i].a = 0.5 * i;
            sbuf[i].b = i;
            sbuf[i].c = -i;
        }
        MPI_Send(sbuf, N * sizeof(cell), MPI_BYTE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        double total = 0.0;
        MPI_Recv(rbuf, N * sizeof(cell), MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < N; i++)
            total += rbuf[i].a * rbuf[i].b + rbuf[i].c;
        printf("%.17g\n", total);
    }
    MPI_Finalize();
    return 0;
}
