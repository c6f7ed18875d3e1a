/* A format in a constant array, one pasted of macros, and one of two. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>

#define N 600

#define UNIT " rows\n"
static const char line[] = "at %d\n";

int main(int argc, char **argv)
{
    int rank, size;
    double s = 0, *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    char text[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 3; step++) {
        if (rank % 2 == 0 && rank + 1 < size) {
            snprintf(text, sizeof text, line, step);
            for (int i = 0; i < N; i++)
                out[i] = i * step + 1;
            snprintf(text + 20, 20, "%" PRId64 UNIT, (int64_t)step);
            MPI_Send(out, N, MPI_DOUBLE, rank + 1, 4, MPI_COMM_WORLD); //~ give(out)
            snprintf(text + 40, 20, step > 1 ? "%d rows" : "%d row", step);
            s += text[0] + text[20] + text[40];
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
