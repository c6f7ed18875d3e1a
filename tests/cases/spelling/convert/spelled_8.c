/* What a failed call would do is never done: an error ends the program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double sbuf[N], rbuf[N];

static int exchange(int peer)
{
    int rc = MPI_Sendrecv(sbuf, N, MPI_DOUBLE, peer, 0, rbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
    if (rc)
        fprintf(stderr, "%g %g\n", sbuf[0], rbuf[0]);
    return rc;
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[i] = rank + t + 0.5 * i;
        if (exchange(1 - rank) != MPI_SUCCESS)
            fprintf(stderr, "%g %g\n", sbuf[1], rbuf[1]);
        else
            for (int i = 0; i < N; i++)
                sum += (t + 1) * rbuf[i];
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
