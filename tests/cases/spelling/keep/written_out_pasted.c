/* The body hands its argument to a macro that pastes it: what it stands for, not its name. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 150
#define TAG_OF(x) TAG_##x
#define SEND(p, n, kind) MPI_Send(p, n, MPI_DOUBLE, 1, TAG_OF(kind), MPI_COMM_WORLD)
enum { TAG_EDGE = 1, TAG_2 = 0 };
#define EDGE 2

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        double *a = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            a[i] = i;
        SEND(a, N, EDGE); //~ keep OPI109
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
