/* A header's text is one, and the files that read it have macros of their own for it. */
#include <mpi.h>
#define SEND(p) MPI_Send(p, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD)
#include "pass.h"

double *edge;

void other(void);

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    edge = malloc(N * sizeof(double));
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            edge[i] = i;
        pass();
        other();
    } else if (rank == 1) {
        static double b[N];
        for (int tag = 0; tag < 2; tag++) {
            MPI_Recv(b, N, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%g\n", b[N - 1]);
        }
    }
    free(edge);
    MPI_Finalize();
    return 0;
}
//~ silent: the text is what forbids it
