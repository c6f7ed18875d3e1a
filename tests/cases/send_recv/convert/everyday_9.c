/* A distribution by blocks: the second rank has less than nothing, malloc gives it NULL, and it does nothing with that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ALL 700

static double in[ALL];

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int chunk = ALL / size + 400, mine = ALL - rank * chunk;
    if (mine > chunk)
        mine = chunk;
    double *part = malloc(mine * sizeof *part);
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < mine; i++)
            part[i] = i + rank + t;
        if (rank == 0 && mine > 0)
            MPI_Send(part, mine, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ give(part)
        if (rank == 1) {
            MPI_Recv(in, ALL, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            sum += in[3];
        }
    }
    free(part);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
