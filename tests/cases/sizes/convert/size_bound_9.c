/* In single precision, by a function of the program's own. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int share(int all, int ranks)
{
    return (int)((float)all / (float)ranks);
}

static double turn(double *a, int rows, int columns, int round, MPI_Comm comm)
{
    int np, me;
    double sum = 0.0;
    MPI_Comm_size(comm, &np);
    MPI_Comm_rank(comm, &me);
    int high = share(rows, np);
    int wide = share(columns, np);
    MPI_Sendrecv_replace(a, high * wide, MPI_DOUBLE, (me + 1) % np, round, (me + np - 1) % np, round, comm, MPI_STATUS_IGNORE); //~ give(a)
    for (int i = 0; i < high; i++)
        for (int j = 0; j < wide; j++)
            sum += a[i * wide + j] * (i + 1);
    return sum;
}

int main(int argc, char **argv)
{
    int np, me;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int rows = 30 * np, columns = 20 * np;
    double *a = calloc(rows * columns, sizeof(double));
    for (int i = 0; i < rows * columns; i++)
        a[i] = i + me;
    for (int round = 0; round < 3; round++)
        sum += turn(a, rows, columns, round, MPI_COMM_WORLD);
    printf("%d: %.17g\n", me, sum);
    free(a);
    MPI_Finalize();
    return 0;
}
