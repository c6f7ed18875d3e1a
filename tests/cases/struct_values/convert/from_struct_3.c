/* The struct is named by a macro, and the message is said to begin with its first element. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24

struct {
    int ny, nz;
    double out[4 * N], in[4 * N];
} comm_;
#define comm_1 comm_
static double u[N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? atoi(argv[5]) : N;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        comm_1.ny = n / 6;
        comm_1.nz = 6;
        if (rank == 0) {
            for (int k = 1; k <= comm_1.nz; k++)
                for (int j = 1; j <= comm_1.ny; j++) { //~ hole: j = 1 => j = 2
                    int at = (k - 1) * comm_1.ny + j;
                    comm_1.out[2 * at - 2] = u[at - 1] + t;
                    comm_1.out[2 * at - 1] = u[at - 1] - t;
                }
            MPI_Send(&comm_1.out[0], 2 * comm_1.ny * comm_1.nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(&comm_1.out[0])
        } else if (rank == 1) {
            MPI_Recv(comm_1.in, 2 * comm_1.ny * comm_1.nz, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(comm_1.in)
            for (int k = 1; k <= comm_1.nz; k++)
                for (int j = 1; j <= comm_1.ny; j++) {
                    int at = (k - 1) * comm_1.ny + j;
                    u[at - 1] += comm_1.in[2 * at - 2] - 0.25 * comm_1.in[2 * at - 1];
                }
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
