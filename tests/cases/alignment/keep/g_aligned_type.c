/* The type of the elements is aligned to more than a taken buffer is. */
#include <mpi.h>
#include <stdio.h>

struct line {
    double v[64];
} __attribute__((aligned(512)));

static struct line b[16], r[16];

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < 16; i++)
                for (int j = 0; j < 64; j++)
                    b[i].v[j] = i * j + k;
            MPI_Send(b, 16 * 64, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b) OPI113
        } else if (rank == 1) {
            MPI_Recv(r, 16 * 64, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(r) OPI213
            for (int i = 0; i < 16; i++)
                s += r[i].v[i];
        }
    }
    printf("%d %g\n", rank, s);
    MPI_Finalize();
    return 0;
}
//~ silent: the address, not a byte, is what the program was promised
