/* MPI_Pack_external packs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM 40000

static char out[ROOM], in[ROOM];

int main(int argc, char **argv)
{
    int rank, n = 1000;
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
            MPI_Aint at = 0;
            MPI_Pack_external("external32", x, n, MPI_DOUBLE, out, ROOM, &at);
            MPI_Pack_external("external32", k, 50, MPI_INT, out, ROOM, &at);
            MPI_Send(out, at, MPI_BYTE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Aint at = 0;
            MPI_Recv(in, ROOM, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            MPI_Unpack_external("external32", in, ROOM, &at, x, n, MPI_DOUBLE);
            MPI_Unpack_external("external32", in, ROOM, &at, k, 50, MPI_INT);
            for (int i = 0; i < n; i++)
                total += x[i] * k[i % 50];
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
