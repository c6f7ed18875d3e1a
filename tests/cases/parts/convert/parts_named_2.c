/* Four parts at file scope, by places in the first one; tested, and never freed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[2 * N];
#define RADIUS 2

static double *top_out, *top_in, *bottom_out, *bottom_in;

int main(int argc, char **argv)
{
    int rank, error = 0, width = argc > 5 ? 10 : N / RADIUS;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    top_out = (double *)malloc(4 * sizeof(double) * RADIUS * width);
    if (!top_out) {
        printf("rank %d has no room for its halo\n", rank);
        error = 1;
    }
    if (error)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    top_in = top_out + RADIUS * width;
    bottom_out = top_out + 2 * RADIUS * width;
    bottom_in = &top_out[3 * RADIUS * width];
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[4];
        int k = 0;
        MPI_Irecv(top_in, RADIUS * width, MPI_DOUBLE, 1 - rank, 101, MPI_COMM_WORLD, &rq[0]); //~ take(top_in)
        for (int j = 0; j < RADIUS; j++)
            for (int i = 0; i < width; i++)
                top_out[k++] = u[j * width + i] + step;
        MPI_Isend(top_out, RADIUS * width, MPI_DOUBLE, 1 - rank, 102, MPI_COMM_WORLD, &rq[1]); //~ give(top_out)
        MPI_Irecv(bottom_in, RADIUS * width, MPI_DOUBLE, 1 - rank, 102, MPI_COMM_WORLD, &rq[2]); //~ take(bottom_in)
        k = 0;
        for (int j = 0; j < RADIUS; j++)
            for (int i = 0; i < width; i++)
                bottom_out[k++] = 2 * u[j * width + i];
        MPI_Isend(bottom_out, RADIUS * width, MPI_DOUBLE, 1 - rank, 101, MPI_COMM_WORLD, &rq[3]); //~ give(bottom_out)
        MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
        k = 0;
        for (int j = 0; j < RADIUS; j++)
            for (int i = 0; i < width; i++) {
                u[j * width + i] += top_in[k] - bottom_in[k];
                k++;
            }
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ points 4
