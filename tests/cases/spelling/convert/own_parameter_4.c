/* The parameter is set where the caller has no room, and stands for its caller's block otherwise: all in one program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double share(double *part, int n, int rank, int size)
{ double sum = 0.0;
    part = calloc(n, sizeof *part);
    if (rank > 0) {
        for (int i = 0; i < n; i++)
            part[i] = rank * i;
        MPI_Send(part, n, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD); //~ give(part)
    } else {
        for (int r = 1; r < size; r++) {
            MPI_Recv(part, n, MPI_DOUBLE, r, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(part) no-stale-count
            for (int i = 0; i < n; i++)
                sum += part[i] / r;
        }
    }
    free(part);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    double part[90] = {2.0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double first = share(part, 90, rank, size), second = share(part, 30, rank, size);
    printf("%d: %.17g %.17g %g\n", rank, first, second, part[0]);
    MPI_Finalize();
    return 0;
}
