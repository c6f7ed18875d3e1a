/* The macros stand in a header, their uses in two files; elements are macros, too. */
#include "halo.h"

double *edge;

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    edge = HALO_NEW();
    if (rank == 0) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            HALO_AT(edge, i) = i * 3;
        send_edge(1);
    } else if (rank == 1) {
        double *b = HALO_NEW();
        MPI_Recv(&HALO_AT(b, 0), N, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        printf("%g\n", HALO_AT(b, N - 1));
        free(b);
    }
    free(edge);
    MPI_Finalize();
    return 0;
}
