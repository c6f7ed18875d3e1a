/* After a case the number is not what the message asks for: it has changed, falls through, lost bits, or is no case. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double a[N], b[N], c[N], d[N], e[N], f[N];

static void fill(double *x, int k)
{
    for (int i = 0; i < N; i++)
        x[i] = i + k;
}

static double sum(const double *x)
{
    double s = 0.0;
    for (int i = 0; i < N; i++)
        s += x[i] * (i + 1);
    return s;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Request pending = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int phase = rank, wide = rank + 256 * argc;
    switch (phase) {
    case 0:
        fill(a, 1);
        MPI_Send(a, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep OPI101
        phase = 1;
        break;
    case 1:
        MPI_Recv(a, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    }
    if (phase == 1)
        total += sum(a);
    switch (rank) {
    case 0:
        fill(b, 2);
        MPI_Send(b, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD); //~ keep OPI101
        /* falls through */
    case 2:
        total += sum(b);
        break;
    case 1:
        MPI_Recv(b, N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        total += sum(b);
        break;
    }
    switch ((unsigned char)wide) {
    case 0:
        fill(c, 3);
        MPI_Send(c, N, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ keep OPI101
        break;
    case 1:
        MPI_Recv(c, N, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    }
    if (wide >= 256)
        total += sum(c);
    switch (rank) {
    default:
        fill(d, 4);
        MPI_Send(d, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD); //~ keep OPI101
        break;
    case 1:
        MPI_Recv(d, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case 7:
        break;
    }
    if (rank != 7)
        total += sum(d);
    switch (rank) {
    case 0:
    case 5:
        fill(e, 5);
        MPI_Send(e, N, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD); //~ keep OPI101
        break;
    case 1:
        MPI_Recv(e, N, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank != 5)
        total += sum(e);
    switch (rank) {
    case 0:
        fill(f, 6);
        MPI_Isend(f, N, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD, &pending); //~ keep OPI101
        break;
    default:
        MPI_Recv(f, N, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    switch (rank) {
    case 1:
        total += 2.0;
    default:
        total += sum(f);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
