/* MPI_Pack puts two pieces one after the other, and as much is sent as there is then. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM 40000

static char out[ROOM], in[ROOM];

int main(int argc, char **argv)
{
    int rank, n = 1000, pos = 0;
    double x[1000], total = 0.0;
    int k[50];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        n = atoi(argv[1]);
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < n; i++)
            x[i] = i + t;
        for (int i = 0; i < 50; i++)
            k[i] = i * t;
        if (rank == 0) {
            pos = 0;
            MPI_Pack(x, n, MPI_DOUBLE, out, ROOM, &pos, MPI_COMM_WORLD);
            MPI_Pack(k, 50, MPI_INT, out, ROOM, &pos, MPI_COMM_WORLD);
            MPI_Send(out, pos, MPI_PACKED, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            pos = 0;
            MPI_Recv(in, ROOM, MPI_PACKED, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            MPI_Unpack(in, ROOM, &pos, x, n, MPI_DOUBLE, MPI_COMM_WORLD);
            MPI_Unpack(in, ROOM, &pos, k, 50, MPI_INT, MPI_COMM_WORLD);
            for (int i = 0; i < n; i++)
                total += x[i] * k[i % 50];
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
