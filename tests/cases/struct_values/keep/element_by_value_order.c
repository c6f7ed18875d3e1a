/* What fills the buffer, with the same, stands in the expression that reads one of it: the compiler chooses which comes first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 512
struct pair { double re, im; };
/* A weight that does not change is the first of what is packed. */
static struct pair one(struct pair a) { a.re += 1.0; return a; }
static double weigh(int n, struct pair a) { return n * a.re; }
static int pack(struct pair *v)
{
    for (int i = 0; i < N; i++) {
        v[i].re = 1.0 + 0.5 * i;
        v[i].im = 2.0 - i;
    }
    return N;
}
int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct pair *v = malloc(N * sizeof(struct pair));
    pack(v);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            total += weigh(pack(v), one(v[0]));
            MPI_Send(v, 2 * N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(v, 2 * N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += v[i].re;
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(v);
    MPI_Finalize();
    return 0;
}
