/* A comparison that is compared with 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long a;

int main(int argc, char **argv)
{
    int rank;
    double total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = (long)strtod("4294967302", NULL);
    double *out = malloc(40 * sizeof(double));
    for (int i = 0; i < 40; i++)
        out[i] = i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int p = 16;
            if ((a > 100) != 0)
                p = 22;
            for (int i = 0; i < p; i++)
                out[i] = i + t;
            int q = 16;
            if (a > 100)
                q = 22;
            MPI_Send(out, q, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Status st;
            int came;
            static double in[40];
            MPI_Recv(in, 40, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &st); //~ take(in) no-stale-count
            MPI_Get_count(&st, MPI_DOUBLE, &came);
            for (int i = 0; i < came; i++)
                total += in[i];
        }
    }
    free(out);
    printf("%d %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
