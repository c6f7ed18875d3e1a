/* What is sent is printed after the send, by a function of the program that prints. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static char rbuf[N];

static void report(int level, const char *format, ...)
{
    va_list ap;

    if (level > 3)
        return;
    va_start(ap, format);
    vfprintf(stdout, format, ap);
    va_end(ap);
}
static char text[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            text[i] = i < N - 1 ? 'a' + i % 26 : 0;
        MPI_Send(text, N, MPI_CHAR, 1, 7, MPI_COMM_WORLD); //~ keep OPI103
        report(1, "%s\n", text);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
