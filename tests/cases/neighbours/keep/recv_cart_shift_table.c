/* MPI_Cart_shift writes into a table, of which one entry is the source. */
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
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    int dims[1] = { 2 }, open[1] = { 0 }, near[2];
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, open, 0, &line);
    MPI_Cart_shift(line, 0, 1, &near[0], &near[1]);
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    for (int i = 0; i < N; i++)
        rbuf[i] = 0.5 * i;
    MPI_Sendrecv(sbuf, N, MPI_DOUBLE, near[argc < 6], 7, rbuf, N, MPI_DOUBLE, near[argc > 5], 7, line, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI203
    for (int i = 0; i < N; i++)
        v[i] = rbuf[i];
    MPI_Comm_free(&line);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
