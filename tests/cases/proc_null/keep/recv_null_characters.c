/* The sources stand in a table of characters, one of them by its number. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static const int to[2] = { 1, MPI_PROC_NULL };
static const char from[] = "\377\000";  /* -1 is MPI_PROC_NULL in some MPIs */

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    for (int i = 0; i < N; i++)
        rbuf[i] = 0.5 * i;
    MPI_Sendrecv(sbuf, N, MPI_DOUBLE, to[rank], 7, rbuf, N, MPI_DOUBLE, (signed char)from[rank], 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI203
    for (int i = 0; i < N; i++)
        v[i] = rbuf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
