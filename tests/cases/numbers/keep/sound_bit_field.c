/* A store to a bit field writes no whole bytes: the other field keeps what the first turn gave it. */
#include <mpi.h>
#include <stdio.h>

#define N 32

struct item {
    unsigned kind : 3, value : 29;
};

static struct item out[N], in[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) {
                if (turn == 0)
                    out[i].value = (unsigned)i;
                out[i].kind = (unsigned)(i + turn) % 8;
            }
            MPI_Send(out, (int)sizeof out, MPI_BYTE, 1, 0, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            long total = 0;
            MPI_Recv(in, (int)sizeof in, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += in[i].kind + (long)in[i].value;
            printf("%ld\n", total);
        }
    }
    MPI_Finalize();
    return 0;
}
