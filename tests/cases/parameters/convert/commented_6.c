/* A matrix, and a `void *`, with comments; also in the calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define C 40

static void send_rows(double m[][C] /* in */, int rows /* in */, int to /* in */)
{
    MPI_Send(m, rows * C, MPI_DOUBLE, to, 3, MPI_COMM_WORLD); //~ give(m)
}

static void receive(void *b /* out */, /* in */ int n, int from /* in */)
{
    MPI_Recv(b, n, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
}

int main(int argc, char **argv)
{
    int rank, size, rows = 12;
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double (*m)[C] = malloc(rows * sizeof *m);
    double *in = malloc(rows * C * sizeof *in);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < C; j++)
            m[i][j] = rank + i * 0.25 - j;
    send_rows(m /* the rows, all */, rows, /* to */ (rank + 1) % size);
    receive(in, rows * C /* numbers */, (rank + size - 1) % size);
    for (int i = 0; i < rows * C; i++)
        total += in[i] * (i % 11);
    printf("%d: %.17g\n", rank, total);
    free(m);
    free(in);
    MPI_Finalize();
    return 0;
}
