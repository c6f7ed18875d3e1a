/* A goto past the buffer's declaration: the pointer that it would become is not
 * set there, and the end of the function would free it. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (argc > 3)
        goto out;
    double sbuf[N];
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    if (rank == 0)
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI115
    else if (rank == 1) {
        MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
out:
    MPI_Finalize();
    return 0;
}
