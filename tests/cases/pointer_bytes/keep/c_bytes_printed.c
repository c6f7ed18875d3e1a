/* An address is printed, and read from the text. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct state {
    double *b;
    int n;
};

#define N 1500

static double few[8];
static struct state mine, other;

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
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                mine.b[i] = i + k;
            MPI_Send(mine.b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(mine.b)
            struct state *q = &other;
            char t[40];
            void *v = NULL;
            snprintf(t, sizeof t, "%p", (void *)&mine);
            sscanf(t, "%p", &v);
            q = v;
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
