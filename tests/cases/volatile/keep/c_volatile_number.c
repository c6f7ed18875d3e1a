/* An address in a volatile integer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

struct state {
    double *b;
    int n;
};

#define N 1500

static double few[8];
static struct state mine, other;
static volatile uintptr_t current;

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    double *in = malloc(N * sizeof(double));

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine.n = N;
    mine.b = malloc(N * sizeof(double));
    other.n = 8;
    other.b = few;
    current = (uintptr_t)&mine;
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                mine.b[i] = i + k;
            MPI_Send(mine.b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(mine.b)
            struct state *q = &other;
            q = (struct state *)current;
            s += q->b[3];
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                s += in[i];
        }
    }
    printf("%d: %.1f\n", rank, s);
    free(mine.b);
    free(in);
    MPI_Finalize();
    return 0;
}
