/* A struct of the buffer is given to snprintf by value after the send: its bytes are read there. */
#include <mpi.h>
#include <stdio.h>

struct point {
    double x;
};

int main(int argc, char **argv)
{
    int rank;
    static struct point b[600], in[600];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            char text[40];
            for (int i = 0; i < 600; i++)
                b[i].x = i + k;
            MPI_Send(b, 600, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(b)
            snprintf(text, sizeof text, "%g", b[7]);
            printf("%s\n", text);
        } else if (rank == 1) {
            MPI_Recv(in, 600, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            printf("%g\n", in[5].x);
        }
    }
    MPI_Finalize();
    return 0;
}
