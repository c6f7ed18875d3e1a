/* The rank is printed into a text and read again. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    char text[16];
    snprintf(text, sizeof text, "%d", left);
    int from = atoi(text);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    for (int i = 0; i < N; i++)
        rbuf[i] = -1.0;
    MPI_Sendrecv(sbuf, N, MPI_DOUBLE, to, 7, rbuf, N, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI203
    for (int i = 0; i < N; i++)
        v[i] = rbuf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
