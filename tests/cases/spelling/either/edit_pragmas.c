/* Pragmas stand between what precedes a loop and the loop: nothing may come between them and it. */
#include <mpi.h>
#include <stdio.h>

#define N 500
#define IVDEP _Pragma("GCC ivdep")

static double one[N], two[N], three[N];

int main(int argc, char **argv)
{
    int rank;
    static double got[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
#pragma GCC ivdep

            for (int i = 0; i < N; i++)
                one[i] = turn + i;
            MPI_Send(one, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
#ifdef __GNUC__
#pragma GCC unroll 4
#endif
            /* two by two */
            for (int i = 0; i < N; i++)
                two[i] = turn + 2 * i;
            MPI_Send(two, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
            if (turn < 5)
#pragma GCC ivdep
                for (int i = 0; i < N; i++)
                    three[i] = turn + 3 * i;
            else
                IVDEP for (int i = 0; i < N; i++) three[i] = i;
            MPI_Send(three, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
        } else if (rank == 1) {
            for (int tag = 0; tag < 3; tag++) {
                MPI_Recv(got, N, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                printf("%d %g\n", tag, got[N - 1]);
            }
        }
    }
    MPI_Finalize();
    return 0;
}
