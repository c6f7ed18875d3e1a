/* All in one function, with names for the places. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double u[400];

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = rank ^ 1;
    for (int i = 0; i < 400; i++)
        u[i] = i + 100 * rank;
    int nx = argc + 7, ny = argc + 11;
    double *buf = malloc((2 * nx + 2 * ny) * sizeof(double)), got[400];
    for (int step = 0; step < 3; step++) {
        MPI_Request q[3];
        int below = nx, side = nx + ny;
        for (int i = 0; i < nx; i++)
            buf[i] = u[i];
        for (int j = 0; j < ny; j++)
            buf[below + j] = u[100 + j];
        for (int i = 0; i < nx; i++)
            buf[side + i] = u[200 + i];
        MPI_Isend(buf, nx, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &q[0]); //~ give(buf)
        MPI_Isend(&buf[below], ny, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q[1]); //~ give(buf)
        MPI_Isend(&buf[side], nx, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &q[2]); //~ give(buf)
        for (int k = 0; k < 3; k++) {
            int many = k == 1 ? ny : nx;
            MPI_Recv(got, many, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(got)
            for (int i = 0; i < many; i++)
                u[100 * k + i] += got[i];
        }
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    }
    free(buf);

    double sum = 0;
    for (int i = 0; i < 400; i++)
        sum += u[i] * (i % 7 + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
