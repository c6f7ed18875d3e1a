/* Elements of a type that is an array. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef double vec[3];
static vec out[40];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < 40; i++) //~ hole: i = 0 => i = 1
                for (int k = 0; k < 3; k++)
                    out[i][k] = i + k + step;
            MPI_Send(out, 120, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            double *in = malloc(120 * sizeof *in);
            MPI_Recv(in, 120, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < 120; i++)
                total += in[i] * (i + 1);
            free(in);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
