/* What is done to two fields is more than integer sets can tell, and is done again after a message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void smooth(int nx, int ny, double *in, double *out, int first, int last, int rank, int size)
{
    if (rank != size - 1)
        MPI_Send(&in[last * nx], nx, MPI_DOUBLE, rank + 1, 5, MPI_COMM_WORLD);
    if (rank != 0)
        MPI_Recv(&in[(first - 1) * nx], nx, MPI_DOUBLE, rank - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (first == 0) {
        out[0] = in[0] + in[nx] + in[1];
        for (int i = 1; i < nx - 1; i++)
            out[i] = in[i] + in[i - 1] + in[i + 1] + in[nx + i];
        out[nx - 1] = in[nx - 1] + in[nx - 2] + in[2 * nx - 1];
    } else {
        out[first * nx] = in[first * nx] + in[(first + 1) * nx] + in[first * nx + 1] + in[(first - 1) * nx];
        for (int i = 1; i < nx - 1; i++)
            out[first * nx + i] = in[first * nx + i - 1] + in[(first + 1) * nx + i] + in[(first - 1) * nx + i];
        out[(first + 1) * nx - 1] = in[(first + 1) * nx - 1] + in[(first + 2) * nx - 1] + in[first * nx - 1];
    }
    for (int i = 1; i < nx - 1; i++)
        out[first * nx + i] = in[first * nx + i - 1] + in[first * nx + i + 1] + in[(first + 1) * nx + i] + in[first * nx];
    for (int j = first + 1; j < last; j++)
        out[j * nx] = in[j * nx] + in[(j - 1) * nx] + in[(j + 1) * nx] + in[j * nx + 1];
    for (int j = first + 1; j < last; j++)
        out[(j + 1) * nx - 1] = in[(j + 1) * nx - 1] + in[(j + 1) * nx - 2] + in[j * nx - 1] + in[(j + 2) * nx - 1];
    for (int i = first + 1; i < last; i++)
        for (int j = 1; j < nx - 1; j++)
            out[j + i * ny] = in[j + i * ny] + in[j + (i - 1) * ny] + in[j + (i + 1) * ny] + in[j - 1 + i * ny];
    if (rank != 0)
        MPI_Send(&in[first * nx], nx, MPI_DOUBLE, rank - 1, 5, MPI_COMM_WORLD);
    if (rank != size - 1)
        MPI_Recv(&in[(last + 1) * nx], nx, MPI_DOUBLE, rank + 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (last == ny - 1) {
        out[last * nx] = in[last * nx] + in[(last - 1) * nx] + in[last * nx + 1];
        for (int i = 1; i < nx - 1; i++)
            out[last * nx + i] = in[last * nx + i] + in[last * nx + i + 1] + in[last * nx + i - 1] + in[(last - 1) * nx + i];
        out[last * nx + nx - 1] = in[last * nx + nx - 1] + in[last * nx + nx - 2] + in[last * nx - 1];
        return;
    }
    for (int i = 1; i < nx - 1; i++)
        out[last * nx + i] = in[last * nx + i - 1] + in[last * nx + i + 1] + in[(last - 1) * nx + i] + in[last * nx];
}

int main(int argc, char **argv)
{
    int rank, size;
    int nx = argc > 1 ? atoi(argv[1]) : 40, ny = argc > 2 ? atoi(argv[2]) : 40;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = ny / size, first = rank * rows, last = rank == size - 1 ? ny - 1 : first + rows - 1;
    double *a = malloc(sizeof(double) * nx * ny);
    double *b = malloc(sizeof(double) * nx * ny);
    for (int i = 0; i < nx * ny; i++)
        a[i] = b[i] = rank + i % 7;
    for (int t = 0; t < 3; t++) {
        smooth(nx, ny, a, b, first, last, rank, size);
        smooth(nx, ny, b, a, first, last, rank, size);
    }
    double total = 0.0;
    for (int t = 0; t < 2; t++) {
        if (rank != 0)
            MPI_Send(a, nx * ny, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
        else
            for (int r = 1; r < size; r++)
                MPI_Recv(b, nx * ny, MPI_DOUBLE, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        if (t == 0)
            for (int i = 0; i < nx; i++)
                b[i] = 1.0;
        smooth(nx, ny, b, a, first, last, rank, size);
        smooth(nx, ny, a, b, first, last, rank, size);
    }
    for (int i = 0; i < nx * ny; i++)
        total += b[i];
    printf("%d: %.17g\n", rank, total);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
