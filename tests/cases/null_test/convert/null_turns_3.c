/* The same of a member of a struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct halo {
    int n;
    double *in;
};

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct halo h;
    for (int t = 0; t < 7; t++) {
        int m = (t + 1) % 3 * 100;
        h.n = m;
        h.in = NULL;
        if (m > 0)
            h.in = malloc(m * sizeof *h.in);
        if (rank == 0) {
            for (int i = 0; i < m; i++)
                h.in[i] = i + t;
            MPI_Send(h.in, m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(h.in)
        } else if (rank == 1) {
            MPI_Recv(h.in, m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(h.in) no-stale-count
        }
        if (rank == 1 && m > 3)
            total += h.in[3];
        if (h.n > 0)
            free(h.in);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
