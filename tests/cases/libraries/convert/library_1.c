/* Formats that are literals: what they print is only read. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

int main(int argc, char **argv)
{
    int rank, size;
    double s = 0, *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    char text[64];
    int n, used;
    double part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 3; step++) {
        if (rank % 2 == 0 && rank + 1 < size) {
            snprintf(text, sizeof text, "step %-3d of %5.1lf%% %s", step, 100.0 * step, "done");
            for (int i = 0; i < N; i++)
                out[i] = i * step + 1;
            sscanf(text, "step %d of %lf%n", &n, &part, &used);
            MPI_Send(out, N, MPI_DOUBLE, rank + 1, 4, MPI_COMM_WORLD); //~ give(out)
            s += n + part * 0 + used * 0 + text[0];
        } else if (rank % 2 == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                s += in[i];
        }
    }
    printf("%d %g\n", rank, s);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
