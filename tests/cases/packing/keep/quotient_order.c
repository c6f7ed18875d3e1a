/* The divisor is what is divided the second time. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 400

int main(int argc, char **argv)
{
    int np, me, all = 600;
    static double a[MOST];
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int parts = np + 1;
    for (int i = 0; i < MOST; i++)
        a[i] = i + 0.5 * me;
    int n = (int)(all / (double)(3 * parts));
    MPI_Sendrecv_replace(a, n, MPI_DOUBLE, (me + 1) % np, 0, (me + np - 1) % np, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(a)
    int again = (int)((double)(60 * parts * MOST) / all);
    for (int i = 0; i < again && i < MOST; i++)
        sum += a[i] * (i + 1);
    printf("%d: %.17g\n", me, sum);
    MPI_Finalize();
    return 0;
}
