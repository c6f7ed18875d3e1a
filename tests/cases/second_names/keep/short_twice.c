/* The name is set a second time, in one branch. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

struct halo {
    double *out;
    int n;
};

static double other[N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct halo h = { malloc(N * sizeof(double)), N };
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            h.out[i] = 0.5 * i;
        double *b;
        b = h.out;
        if (h.n > 10)
            b = other;
        MPI_Send(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(b)
        free(h.out);
    } else if (rank == 1) {
        MPI_Recv(other, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            sum += other[i];
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
