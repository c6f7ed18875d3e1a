/* A local variable has another value where the call does not allocate. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 4000

static double *b;
static int room;

static void put(int n, int first, int turn)
{
    int length = first ? n : 1;

    if (first) {
        free(b);
        b = malloc(length * sizeof *b);
        room = length;
    }
    for (int i = 0; i < room; i++)
        b[i] = i + turn;
    MPI_Send(b, room, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    static double v[N];
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
            put(N, 1, turn);
            put(N, 0, turn + 1);
        } else if (rank == 1) {
            for (int k = 0; k < 2; k++) {
                MPI_Recv(v, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                for (int i = 0; i < N; i++)
                    total += v[i] * (i + 1);
            }
        }
    }
    if (rank == 0)
        free(b);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
