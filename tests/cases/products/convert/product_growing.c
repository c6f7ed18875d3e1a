/* Both sizes grow in some turns, by numbers that the program does not make negative. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    int ny = argc + 1, nz = argc + 1;
    for (int t = 0; t < 5; t++) {
        if (rank == 0) {
            for (int k = 0; k < nz; k++) //~ hole: k = 0 => k = 1
                for (int j = 0; j < ny; j++)
                    sbuf[k * ny + j] = u[k + j] + t;
            MPI_Send(sbuf, ny * nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, MAX, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < 4; i++)
                total += rbuf[i] * (i + 1);
        }
        int more = t == 1 ? 2 : argc;
        ny += more;
        nz += more;
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
