/* Planes of a block, each a message, by the subscript of an array of three dimensions written out. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NX 24
#define NY 20

static double u[2 * NY * NX], v[2 * NY * NX];

int main(int argc, char **argv)
{
    int rank, nx = argc > 5 ? 3 : NX, ny = argc > 6 ? 4 : NY;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * NY * NX; i++)
        u[i] = rank + 0.5 * i;
    double *planes = malloc(sizeof(double) * 2 * ny * nx);
    double *other = malloc(sizeof(double) * (2 * ny * nx));
    for (int step = 0; step < 2; step++) {
        MPI_Request rq[4];
        for (int p = 0; p < 2; p++)
            MPI_Irecv(other + p * ny * nx, ny * nx, MPI_DOUBLE, 1 - rank, p, MPI_COMM_WORLD, &rq[p]); //~ take(other + p * ny * nx)
        for (int p = 0; p < 2; p++) {
            for (int j = 0; j < ny; j++)
                for (int i = 0; i < nx; i++) //~ hole: i = 0 => i = 1
                    planes[(p * ny + j) * nx + i] = u[(p * NY + j) * NX + i] + p;
            MPI_Isend(&planes[p * ny * nx], nx * ny, MPI_DOUBLE, 1 - rank, p, MPI_COMM_WORLD, &rq[2 + p]); //~ give(&planes[p * ny * nx])
        }
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        for (int p = 0; p < 2; p++)
            for (int j = 0; j < ny; j++)
                for (int i = 0; i < nx; i++)
                    v[(p * NY + j) * NX + i] += other[(p * ny + j) * nx + i];
    }
    double total = 0.0;
    for (int i = 0; i < 2 * NY * NX; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(other);
    free(planes);
    MPI_Finalize();
    return 0;
}
//~ points 4
