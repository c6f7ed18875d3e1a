/* Three numbers for each cell of three sides, in memory that is allocated for all of them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int nx, ny, peer;
} grid;

static double u[400];

static void exchange(const grid g, double *out, double *in)
{
    MPI_Request q[6];
    for (int j = 0; j < g.ny; j++) {
        out[3 * j + 0] = u[j * 10 + 0];
        out[3 * j + 1] = u[j * 10 + 1];
        out[3 * j + 2] = u[j * 10 + 2];
    }
    for (int i = 0; i < g.nx; i++) {
        out[3 * g.ny + 3 * i + 0] = u[200 + i + 0];
        out[3 * g.ny + 3 * i + 1] = u[200 + i + 1];
        out[3 * g.ny + 3 * i + 2] = u[200 + i + 2];
    }
    for (int j = 0; j < g.ny; j++) {
        out[3 * g.ny + 3 * g.nx + 3 * j + 0] = u[j * 10 + 5 + 0];
        out[3 * g.ny + 3 * g.nx + 3 * j + 1] = u[j * 10 + 5 + 1];
        out[3 * g.ny + 3 * g.nx + 3 * j + 2] = u[j * 10 + 5 + 2];
    }
    MPI_Isend(out, 3 * g.ny, MPI_DOUBLE, g.peer, 0, MPI_COMM_WORLD, &q[0]); //~ give(out)
    MPI_Isend(&out[3 * g.ny], 3 * g.nx, MPI_DOUBLE, g.peer, 1, MPI_COMM_WORLD, &q[1]); //~ give(out)
    MPI_Isend(&out[3 * g.ny + 3 * g.nx], 3 * g.ny, MPI_DOUBLE, g.peer, 2, MPI_COMM_WORLD, &q[2]); //~ give(out)
    MPI_Irecv(in, 3 * g.ny, MPI_DOUBLE, g.peer, 0, MPI_COMM_WORLD, &q[3]); //~ take(in)
    MPI_Irecv(&in[3 * g.ny], 3 * g.nx, MPI_DOUBLE, g.peer, 1, MPI_COMM_WORLD, &q[4]); //~ take(in)
    MPI_Irecv(&in[3 * g.ny + 3 * g.nx], 3 * g.ny, MPI_DOUBLE, g.peer, 2, MPI_COMM_WORLD, &q[5]); //~ take(in)
    MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
    for (int j = 0; j < g.ny; j++) {
        u[j * 20 + 0] += in[3 * j + 0];
        u[j * 20 + 1] += in[3 * j + 1];
        u[j * 20 + 2] += in[3 * j + 2];
    }
    for (int i = 0; i < g.nx; i++) {
        u[300 + i + 0] += in[3 * g.ny + 3 * i + 0];
        u[300 + i + 1] += in[3 * g.ny + 3 * i + 1];
        u[300 + i + 2] += in[3 * g.ny + 3 * i + 2];
    }
    for (int j = 0; j < g.ny; j++) {
        u[j * 20 + 7 + 0] += in[3 * g.ny + 3 * g.nx + 3 * j + 0];
        u[j * 20 + 7 + 1] += in[3 * g.ny + 3 * g.nx + 3 * j + 1];
        u[j * 20 + 7 + 2] += in[3 * g.ny + 3 * g.nx + 3 * j + 2];
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = rank ^ 1;
    for (int i = 0; i < 400; i++)
        u[i] = i + 100 * rank;
    grid g = {argc + 5, argc + 8, peer};
    double *out = malloc(6 * (g.nx + g.ny) * sizeof(double)), *in = malloc(6 * (g.nx + g.ny) * sizeof(double));
    for (int step = 0; step < 3; step++)
        exchange(g, out, in);
    free(out);
    free(in);

    double sum = 0;
    for (int i = 0; i < 400; i++)
        sum += u[i] * (i % 7 + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
