/* A function is given the array's address as that of halves, and reads the second one after the message. */
#include <mpi.h>
#include <stdio.h>

#define N 1200

static double a[N], b[N];

static void fill(double *to)
{
    for (int i = 0; i < N; i++)
        to[i] = 0.5 * i;
}

static double total(const double *of)
{
    double s = 0.0;
    for (int i = 0; i < N; i++)
        s += of[i] * (i + 1);
    return s;
}

static double last;

static void give(double (*buf)[600], int n, int to)
{
    MPI_Send(buf, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ keep
    last = buf[1][5];
}

static void take(double (*buf)[1200], int n, int from)
{
    MPI_Recv(*buf, n, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
}

int main(int argc, char **argv)
{
    int rank;
    double s = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        fill((double *)&a);
        give((double (*)[600])&a, N, 1);
    } else if (rank == 1) {
        take(&b, N, 0);
        s = total((const double *)&b);
    }
    printf("%d: %.17g\n", rank, s + last);
    MPI_Finalize();
    return 0;
}
