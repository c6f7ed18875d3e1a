/* Macros in the place of a function's name that do more than to name it: what they do besides would be lost. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static int sends, frees;

#define MPI_Send sends++; MPI_Send
#define MPI_Ssend (sends += 10, MPI_Ssend)
#define free frees++; free

static double one[N], two[N];

int main(int argc, char **argv)
{
    int rank;
    static double rbuf[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        double *three = malloc(sizeof(double[N]));
        for (int i = 0; i < N; i++)
            one[i] = two[i] = three[i] = i;
        MPI_Send(one, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI109
        MPI_Ssend(two, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        MPI_Rsend(three, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD); //~ keep OPI114
        free(three);
        printf("%d %d\n", sends, frees);
    } else if (rank == 1) {
        MPI_Request ready;
        MPI_Irecv(rbuf, N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &ready);
        for (int tag = 0; tag < 2; tag++) {
            static double more[N];
            MPI_Recv(more, N, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%g\n", more[N - 1]);
        }
        MPI_Wait(&ready, MPI_STATUS_IGNORE);
        printf("%g\n", rbuf[N - 1]);
    }
    MPI_Finalize();
    return 0;
}
//~ silent: the text is what forbids it
