/* Of two structs that a function is given by value, it returns the one with MPI_PROC_NULL in it. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

struct near {
    int left, right;
};

static struct near chosen(struct near a, struct near b, int first)
{
    return first ? a : b;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    struct near low = { MPI_PROC_NULL, 1 }, high = { 0, MPI_PROC_NULL };
    struct near mine = chosen(low, high, rank == 0);
    int left = mine.left, right = mine.right;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    for (int i = 0; i < N; i++)
        rbuf[i] = 0.5 * i;
    MPI_Sendrecv(sbuf, N, MPI_DOUBLE, right, 7, rbuf, N, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI203
    for (int i = 0; i < N; i++)
        v[i] = rbuf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
