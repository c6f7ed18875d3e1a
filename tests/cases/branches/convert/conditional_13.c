/* Roles in an enum, and messages of one switch that a later switch has received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum role { SENDER, RECEIVER, NOBODY };

int main(int argc, char **argv)
{
    int rank, n = 2048 + argc;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    enum role role = rank == 0 ? SENDER : rank == 1 ? RECEIVER : NOBODY;
    double *a = malloc(n * sizeof *a);
    for (int step = 0; step < 3; step++) {
        switch (role) {
        case SENDER: {
            for (int i = 0; i < n; i++)
                a[i] = i + step;
            MPI_Send(a, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
            break;
        }
        case RECEIVER:
            MPI_Recv(a, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a)
            break;
        default:
            break;
        }
        switch (role) {
        case RECEIVER:
            for (int i = 0; i < n; i++)
                total += a[i] * (i + 1);
            break;
        case NOBODY:
            total = 1.0;
            break;
        default:
            total += step;
        }
    }
    free(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
