/* The cursor still points into the buffer that was sent, and moves on reading there. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 2048

static double u[N], v[N];
static int tag[N];
static char sbuf[12 * N], rbuf[12 * N];

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++) {
        u[i] = rank + 0.5 * i;
        tag[i] = N - 1 - i;
    }
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    char *p = sbuf; //~ hole: p = sbuf; => p = sbuf + 12;
    for (int i = 0; i < N / 2; i++) {
        memcpy(p, &tag[i], sizeof(int));
        p += sizeof(int);
        memcpy(p, &u[i], sizeof(double));
        p += sizeof(double);
    }
    MPI_Sendrecv(sbuf, (int)(p - sbuf), MPI_BYTE, right, 7, rbuf, 12 * N, MPI_BYTE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(sbuf) OPI101
    for (int i = 0; i < N / 4; i++) {
        double x;
        p -= 12;
        memcpy(&x, p + 4, sizeof x);
        v[i] += x + rbuf[12 * i];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
