/* Memory for the packed message is allocated for each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM 40000

static char in[ROOM];

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
            int size;
            MPI_Pack_size(n, MPI_DOUBLE, MPI_COMM_WORLD, &size);
            char *b = malloc(size + 400);
            pos = 0;
            MPI_Pack(x, n, MPI_DOUBLE, b, size + 400, &pos, MPI_COMM_WORLD);
            MPI_Pack(k, 50, MPI_INT, b, size + 400, &pos, MPI_COMM_WORLD);
            MPI_Send(b, pos, MPI_PACKED, 1, 7, MPI_COMM_WORLD); //~ give(b)
            free(b);
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
