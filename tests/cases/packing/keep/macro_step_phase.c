/* A macro goes on to the next phase by `++`; one phase packs nothing. */
#include <mpi.h>
#include <stdio.h>
#define N 600
#define NEXT_PHASE phase++
static double b[N], total;
static int phase;
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (phase < 3) {
        if (rank == 0) {
            if (phase != 1)
                for (int i = 0; i < N; i++)
                    b[i] = i + phase;
            MPI_Send(b, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep OPI102
        } else if (rank == 1) {
            MPI_Recv(b, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += b[i] * (i + 1);
        }
        NEXT_PHASE;
    }
    printf("%d: %.17g %d\n", rank, total, phase);
    MPI_Finalize();
    return 0;
}
