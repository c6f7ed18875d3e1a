/* Faces of several sizes, one after the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NX 250
#define NY 180

static double u[NX], v[2 * (NX + NY)];

int main(int argc, char **argv)
{
    int rank, nx = argc > 5 ? 10 : NX, ny = argc > 6 ? 7 : NY;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < NX; i++)
        u[i] = rank + 0.5 * i;
    double *out = malloc((2 * nx + 2 * ny) * sizeof(double));
    double *in;
    in = (double *)malloc(2 * (nx + ny) * sizeof(double));
    for (int step = 0; step < 2; step++) {
        MPI_Request rq[8];
        MPI_Irecv(in, nx, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        MPI_Irecv(in + nx, nx, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, &rq[1]); //~ take(in + nx)
        MPI_Irecv(in + 2 * nx, ny, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, &rq[2]); //~ take(in + 2 * nx)
        MPI_Irecv(&in[2 * nx + ny], ny, MPI_DOUBLE, 1 - rank, 4, MPI_COMM_WORLD, &rq[3]); //~ take(&in[2 * nx + ny])
        int first = 0; //~ hole: 0 => 1
        for (int i = first; i < nx; i++) {
            out[i] = u[i] + step;
            out[nx + i] = 2 * u[i];
        }
        for (int j = first; j < ny; j++) {
            out[2 * nx + j] = u[j] - step;
            out[nx + nx + ny + j] = 3 * u[j];
        }
        MPI_Isend(out, nx, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &rq[4]); //~ give(out)
        MPI_Isend(out + nx, nx, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, &rq[5]); //~ give(out + nx)
        MPI_Isend(out + nx * 2, ny, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, &rq[6]); //~ give(out + nx * 2)
        MPI_Isend(&out[2 * nx + ny], ny, MPI_DOUBLE, 1 - rank, 4, MPI_COMM_WORLD, &rq[7]); //~ give(&out[2 * nx + ny])
        MPI_Waitall(8, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < nx; i++)
            v[i] += in[i] + in[nx + i];
        for (int j = 0; j < ny; j++)
            v[NX + j] += in[2 * nx + j] * in[2 * nx + ny + j];
    }
    double total = 0.0;
    for (int i = 0; i < 2 * (NX + NY); i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
//~ points 4
