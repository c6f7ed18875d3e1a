/* Structs of the buffer are given to printf by value: their bytes are read, and no address goes anywhere. */
#include <mpi.h>
#include <stdio.h>

struct point {
    float x, y;
};

int main(int argc, char **argv)
{
    int rank;
    static struct point b[600];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < 600; i++)
                b[i].x = b[i].y = i + k;
            MPI_Send(b, 1200, MPI_FLOAT, 1, 0, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            char text[40];
            MPI_Recv(b, 1200, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            for (int i = 0; i < 600; i++) {
                snprintf(text, sizeof text, "%.1s", "x", b[i]);
                if (i % 100 == 99)
                    printf("%d: %s %g %g\n", i, text, b[i].x, b[i].y);
            }
        }
    }
    MPI_Finalize();
    return 0;
}
