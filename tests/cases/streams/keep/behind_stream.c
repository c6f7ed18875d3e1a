/* A stream of the program writes the count when it is flushed. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static ssize_t put(void *cookie, const char *text, size_t length)
{
    (void)text;
    *(int *)cookie = 2000;
    return (ssize_t)length;
}

int main(int argc, char **argv)
{
    int rank;
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 1000;
    cookie_io_functions_t functions = {0};
    functions.write = put;
    FILE *stream = fopencookie(&n, "w", functions);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = i + 1;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += rbuf[i];
    }
    for (int i = 0; i < n; i++)
        sbuf[i] = 2 * i;
    fputs("x", stream);
    fflush(stream);
    if (rank == 0) {
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i % 7);
    }
    printf("%d %g\n", rank, total);
    fclose(stream);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
