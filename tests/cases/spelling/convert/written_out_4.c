/* One use has a send and a receive; arguments stand on lines of their own, with comments. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64
#define SWAP_HALO(mine, theirs, peer) \
    MPI_Send((mine), N, MPI_INT, (peer), 0, MPI_COMM_WORLD); /* eager */ \
    MPI_Recv((theirs), N, MPI_INT, (peer), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *mine = malloc(N * sizeof(int)), *theirs = malloc(N * sizeof(int));
    for (int i = 0; i < N; i++)
        mine[i] = rank * 100 + i;
    if (rank < 2) {
        SWAP_HALO(mine,       /* what goes */ //~ give(mine), take(theirs)
                  theirs,     // what comes
                  1 - rank);
    }
    int sum = 0;
    for (int i = 0; i < N && rank < 2; i++)
        sum += theirs[i];
    printf("%d\n", sum);
    free(mine);
    free(theirs);
    MPI_Finalize();
    return 0;
}
