/* Three parts of two sizes, each named from the one before; freed at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N], got[N];

int main(int argc, char **argv)
{
    int rank, nx = argc > 5 ? 10 : N, ny = argc > 6 ? 7 : 180;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    double *east = malloc((2 * nx + ny) * sizeof(double));
    double *north, *back;
    north = east + nx;
    back = north + ny;
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[4];
        for (int i = 0; i < nx; i++)
            east[i] = u[i] + step;
        MPI_Isend(east, nx, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[0]); //~ give(east)
        for (int i = 0; i < ny; i++)
            north[i] = u[i] - step;
        MPI_Isend(north, ny, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, &rq[1]); //~ give(north)
        MPI_Irecv(back, nx, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[2]); //~ take(back)
        MPI_Irecv(got, ny, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, &rq[3]); //~ take(got)
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < nx; i++)
            u[i] += back[i];
        for (int i = 0; i < ny; i++)
            u[N + i] -= got[i];
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(east);
    MPI_Finalize();
    return 0;
}
//~ points 4
