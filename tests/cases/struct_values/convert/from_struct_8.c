/* A struct that a function returns holds the numbers that it had there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct grid {
    int n, halo;
    double dx;
};

static struct grid made(int n)
{
    struct grid g;
    g.n = n;
    g.halo = 2;
    g.dx = 1.0 / n;
    return g;
}

int main(int argc, char **argv)
{
    int rank, n = argc > 1 ? atoi(argv[1]) : 1500;
    double s = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct grid g = made(n);
    double *b = malloc(n * sizeof *b);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < g.n; i++)
                b[i] = i * 0.5 + t;
            MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            for (int i = 0; i < g.n; i++)
                s += b[i] * (i % 7 + 1);
        }
    }
    free(b);
    printf("%d: %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
