/* The function is given another struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2000

struct grid {
    double dx;
    int nx, ny;
};

static void scan(struct grid *g, int k)
{
    int sizes[2] = { 10 + k, N / 20 };
    memcpy(&g->nx, sizes, sizeof sizes);
}

static void pack(struct grid g, double *b, int k)
{
    for (int i = 0; i < g.nx * g.ny; i++)
        b[i] = k + 0.5 * i;
}

int main(int argc, char **argv)
{
    int rank, got;
    double total = 0.0;
    double *sbuf = malloc(2 * N * sizeof(double)), *rbuf = malloc(2 * N * sizeof(double));
    struct grid h = { 0.5, 0, 0 };
    struct grid less = { 0.5, 5, 5 };
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        sbuf[i] = i;
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            scan(&h, k);
            pack(k == 1 ? less : h, sbuf, k);
            MPI_Send(sbuf, h.nx * h.ny, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, 2 * N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &got);
            for (int i = 0; i < got; i++)
                total += (k + 1) * rbuf[i];
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
