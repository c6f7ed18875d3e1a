/* Up to eight neighbours: where one is missing, two null requests stand in its place. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int at(int x, int y, int nx, int ny)
{
    return x < 0 || x >= nx || y < 0 || y >= ny ? -1 : y * nx + x;
}

int main(int argc, char **argv)
{
    int rank, size, n = 64;
    MPI_Request rq[16];
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int nx = size > 1 ? 2 : 1, ny = size / nx, x = rank % nx, y = rank / nx;
    int left = rank < nx * ny ? at(x - 1, y + 0, nx, ny) : -1;
    double *to_left = malloc(n * sizeof(double)), *of_left = malloc(n * sizeof(double));
    int right = rank < nx * ny ? at(x + 1, y + 0, nx, ny) : -1;
    double *to_right = malloc(n * sizeof(double)), *of_right = malloc(n * sizeof(double));
    int down = rank < nx * ny ? at(x + 0, y - 1, nx, ny) : -1;
    double *to_down = malloc(n * sizeof(double)), *of_down = malloc(n * sizeof(double));
    int up = rank < nx * ny ? at(x + 0, y + 1, nx, ny) : -1;
    double *to_up = malloc(n * sizeof(double)), *of_up = malloc(n * sizeof(double));
    int sw = rank < nx * ny ? at(x - 1, y - 1, nx, ny) : -1;
    double *to_sw = malloc(n * sizeof(double)), *of_sw = malloc(n * sizeof(double));
    int se = rank < nx * ny ? at(x + 1, y - 1, nx, ny) : -1;
    double *to_se = malloc(n * sizeof(double)), *of_se = malloc(n * sizeof(double));
    int nw = rank < nx * ny ? at(x - 1, y + 1, nx, ny) : -1;
    double *to_nw = malloc(n * sizeof(double)), *of_nw = malloc(n * sizeof(double));
    int ne = rank < nx * ny ? at(x + 1, y + 1, nx, ny) : -1;
    double *to_ne = malloc(n * sizeof(double)), *of_ne = malloc(n * sizeof(double));
    for (int t = 0; t < 3; t++) {
        int k = 0;
        if (left > -1) {
            for (int i = 0; i < n; i++)
                to_left[i] = rank + t * i + 0;
            MPI_Irecv(of_left, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &rq[k++]); //~ take(of_left)
            MPI_Isend(to_left, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &rq[k++]); //~ give(to_left)
        } else {
            rq[k++] = MPI_REQUEST_NULL;
            rq[k++] = MPI_REQUEST_NULL;
        }
        if (right > -1) {
            for (int i = 0; i < n; i++)
                to_right[i] = rank + t * i + 1;
            MPI_Irecv(of_right, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &rq[k++]); //~ take(of_right)
            MPI_Isend(to_right, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &rq[k++]); //~ give(to_right)
        } else {
            rq[k++] = MPI_REQUEST_NULL;
            rq[k++] = MPI_REQUEST_NULL;
        }
        if (down > -1) {
            for (int i = 0; i < n; i++)
                to_down[i] = rank + t * i + 2;
            MPI_Irecv(of_down, n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &rq[k++]); //~ take(of_down)
            MPI_Isend(to_down, n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &rq[k++]); //~ give(to_down)
        } else {
            rq[k++] = MPI_REQUEST_NULL;
            rq[k++] = MPI_REQUEST_NULL;
        }
        if (up > -1) {
            for (int i = 0; i < n; i++)
                to_up[i] = rank + t * i + 3;
            MPI_Irecv(of_up, n, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &rq[k++]); //~ take(of_up)
            MPI_Isend(to_up, n, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &rq[k++]); //~ give(to_up)
        } else {
            rq[k++] = MPI_REQUEST_NULL;
            rq[k++] = MPI_REQUEST_NULL;
        }
        if (sw > -1) {
            for (int i = 0; i < n; i++)
                to_sw[i] = rank + t * i + 4;
            MPI_Irecv(of_sw, n, MPI_DOUBLE, sw, 0, MPI_COMM_WORLD, &rq[k++]); //~ take(of_sw)
            MPI_Isend(to_sw, n, MPI_DOUBLE, sw, 0, MPI_COMM_WORLD, &rq[k++]); //~ give(to_sw)
        } else {
            rq[k++] = MPI_REQUEST_NULL;
            rq[k++] = MPI_REQUEST_NULL;
        }
        if (se > -1) {
            for (int i = 0; i < n; i++)
                to_se[i] = rank + t * i + 5;
            MPI_Irecv(of_se, n, MPI_DOUBLE, se, 0, MPI_COMM_WORLD, &rq[k++]); //~ take(of_se)
            MPI_Isend(to_se, n, MPI_DOUBLE, se, 0, MPI_COMM_WORLD, &rq[k++]); //~ give(to_se)
        } else {
            rq[k++] = MPI_REQUEST_NULL;
            rq[k++] = MPI_REQUEST_NULL;
        }
        if (nw > -1) {
            for (int i = 0; i < n; i++)
                to_nw[i] = rank + t * i + 6;
            MPI_Irecv(of_nw, n, MPI_DOUBLE, nw, 0, MPI_COMM_WORLD, &rq[k++]); //~ take(of_nw)
            MPI_Isend(to_nw, n, MPI_DOUBLE, nw, 0, MPI_COMM_WORLD, &rq[k++]); //~ give(to_nw)
        } else {
            rq[k++] = MPI_REQUEST_NULL;
            rq[k++] = MPI_REQUEST_NULL;
        }
        if (ne > -1) {
            for (int i = 0; i < n; i++)
                to_ne[i] = rank + t * i + 7;
            MPI_Irecv(of_ne, n, MPI_DOUBLE, ne, 0, MPI_COMM_WORLD, &rq[k++]); //~ take(of_ne)
            MPI_Isend(to_ne, n, MPI_DOUBLE, ne, 0, MPI_COMM_WORLD, &rq[k++]); //~ give(to_ne)
        } else {
            rq[k++] = MPI_REQUEST_NULL;
            rq[k++] = MPI_REQUEST_NULL;
        }
        MPI_Waitall(k, rq, MPI_STATUSES_IGNORE);
        if (left > -1)
            for (int i = 0; i < n; i++)
                sum += of_left[i] * (i % 5 + 0);
        if (right > -1)
            for (int i = 0; i < n; i++)
                sum += of_right[i] * (i % 5 + 1);
        if (down > -1)
            for (int i = 0; i < n; i++)
                sum += of_down[i] * (i % 5 + 2);
        if (up > -1)
            for (int i = 0; i < n; i++)
                sum += of_up[i] * (i % 5 + 3);
        if (sw > -1)
            for (int i = 0; i < n; i++)
                sum += of_sw[i] * (i % 5 + 4);
        if (se > -1)
            for (int i = 0; i < n; i++)
                sum += of_se[i] * (i % 5 + 5);
        if (nw > -1)
            for (int i = 0; i < n; i++)
                sum += of_nw[i] * (i % 5 + 6);
        if (ne > -1)
            for (int i = 0; i < n; i++)
                sum += of_ne[i] * (i % 5 + 7);
    }
    printf("%d %.17g\n", rank, sum);
    free(to_left);
    free(of_left);
    free(to_right);
    free(of_right);
    free(to_down);
    free(of_down);
    free(to_up);
    free(of_up);
    free(to_sw);
    free(of_sw);
    free(to_se);
    free(of_se);
    free(to_nw);
    free(of_nw);
    free(to_ne);
    free(of_ne);
    MPI_Finalize();
    return 0;
}
