/* A macro around it, which the build may change, shows the use as it is written. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 150
#define SEND(p, n, to) MPI_Send(p, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD)
#ifdef QUIET
#define SHOWN(x) x
#else
#define SHOWN(x) (puts(#x), x)
#endif

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        double *a = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            a[i] = i;
        SHOWN(SEND(a, N, 1)); //~ keep OPI109
        free(a);
    } else if (rank == 1) {
        double *b = malloc(N * sizeof(double));
        MPI_Recv(b, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%g\n", b[N - 1]);
        free(b);
    }
    MPI_Finalize();
    return 0;
}
//~ silent: the text is what forbids it
