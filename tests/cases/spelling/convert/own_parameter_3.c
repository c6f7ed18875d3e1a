/* `restrict`, two on one line, and a block that is asked for again where the sides differ. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef float real;

void swap_faces(real **g, int nx, int ny, int up, int down, real *restrict sb, real * restrict rb) {
    sb = (real *)malloc(ny * sizeof(real)); rb = (real *)malloc(ny * sizeof(real));
    if (down >= 0) {
        for (int j = 0; j < ny; j++) sb[j] = g[nx][j];
        MPI_Send(sb, ny, MPI_FLOAT, down, 5, MPI_COMM_WORLD); //~ give(sb)
    }
    if (up >= 0) {
        MPI_Recv(rb, ny, MPI_FLOAT, up, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rb) no-stale-count
        for (int j = 0; j < ny; j++) g[0][j] = rb[j];
        for (int j = 0; j < ny; j++) sb[j] = g[1][j];
        MPI_Send(sb, ny, MPI_FLOAT, up, 6, MPI_COMM_WORLD); //~ give(sb)
    }
    if (down >= 0) {
        MPI_Recv(rb, ny, MPI_FLOAT, down, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rb) no-stale-count
        for (int j = 0; j < ny; j++) g[nx + 1][j] = rb[j];
    }
    free(sb);
    free(rb);
    sb = (real *)malloc(nx * sizeof(real)); rb = (real *)malloc(nx * sizeof(real));
    if (down >= 0) {
        for (int i = 0; i < nx; i++) sb[i] = g[i + 1][0] + g[i + 1][1];
        MPI_Send(sb, nx, MPI_FLOAT, down, 7, MPI_COMM_WORLD); //~ give(sb)
    }
    if (up >= 0) {
        MPI_Recv(rb, nx, MPI_FLOAT, up, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rb) no-stale-count
        for (int i = 0; i < nx; i++) g[i + 1][0] -= rb[i];
    }
    free(sb);
    free(rb);
}

int main(int argc, char **argv)
{
    int rank, size, nx = 40, ny = 50;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    real **g = malloc((nx + 2) * sizeof *g);
    for (int i = 0; i < nx + 2; i++) {
        g[i] = malloc(ny * sizeof **g);
        for (int j = 0; j < ny; j++)
            g[i][j] = rank * 10 + i + 0.25f * j;
    }
    for (int t = 0; t < 3; t++)
        swap_faces(g, nx, ny, rank - 1, rank + 1 < size ? rank + 1 : -1, NULL, NULL);
    for (int i = 0; i < nx + 2; i++) {
        for (int j = 0; j < ny; j++)
            total += g[i][j] * (i + j);
        free(g[i]);
    }
    free(g);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
