/* The right side of `&` reads the buffer, whatever the left side is. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < 1 ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        rbuf[i] = 7.0;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    if (right >= 0)
        MPI_Send(sbuf, N, MPI_DOUBLE, right, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI101
    if (rank > 9 & sbuf[5] > 0)
        u[0] = 1;
    if (left >= 0)
        MPI_Recv(rbuf, N, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = rbuf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
