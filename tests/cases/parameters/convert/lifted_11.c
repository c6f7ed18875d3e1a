/* Two pointers of one name, in blocks inside one another: each keeps the size that it was asked for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static double exchange(int n, const double *c, double *sbuf, double *rbuf)
{
    int up = (rank + 1) % size, down = (rank - 1 + size) % size;
    double t = 0.0;

    for (int i = 0; i < n; i++)
        sbuf[i] = c[i % 100] + i;
    MPI_Sendrecv(sbuf, n, MPI_DOUBLE, down, 0, rbuf, n, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
    for (int i = 0; i < n; i++)
        t += rbuf[i] * (i % 5);
    for (int i = 0; i < n; i++)
        sbuf[i] = c[i % 100] - i;
    MPI_Sendrecv(sbuf, n, MPI_DOUBLE, up, 0, rbuf, n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
    for (int i = 0; i < n; i++)
        t += rbuf[i] * (i % 3);
    return t;
}

int main(int argc, char **argv)
{
    double c[100], total = 0.0, in[300];

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++)
        c[i] = i % 17 + rank;
    int na = 300 * (argc > 0), nb = 9000 * (argc > 0);
    double *sbuf = malloc(na * sizeof *sbuf);
    na = 30;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 300; i++)
            sbuf[i] = i + k + c[i % 100];
        MPI_Send(sbuf, 300, MPI_DOUBLE, (rank + 1) % size, 5, MPI_COMM_WORLD); //~ give(sbuf)
        MPI_Recv(in, 300, MPI_DOUBLE, (rank - 1 + size) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int i = 0; i < 300; i++)
            total += in[i];
        {
            double *sbuf = malloc(nb * sizeof *sbuf), *rbuf = malloc(nb * sizeof *rbuf);
            total += exchange(nb, c, sbuf, rbuf);
            free(sbuf);
            free(rbuf);
        }
    }
    free(sbuf);
    printf("%d: %.17g %d\n", rank, total, na);
    MPI_Finalize();
    return 0;
}
