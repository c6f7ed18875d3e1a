/* The function that frees is called through a pointer, which may mean one that does more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int count;

static void release(double *b)
{
    free(b);
}

static void counted(double *b)
{
    count++;
    free(b);
}

int main(int argc, char **argv)
{
    int rank;
    void (*done)(double *) = argc > 1 ? release : counted;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *sbuf = malloc(N * sizeof(double));
    double *rbuf = malloc(N * sizeof(double));
    rbuf[0] = 0.0; // else it would be a receive with which a block's life begins
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        sbuf[0] = 0.0;
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    done(sbuf);
    done(rbuf);
    printf("%d: freed %d\n", rank, count);
    MPI_Finalize();
    return 0;
}
