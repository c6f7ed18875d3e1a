/* The date, and what the environment says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 600

int main(int argc, char **argv)
{
    int rank, size;
    double s = 0, *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 3; step++) {
        if (rank % 2 == 0 && rank + 1 < size) {
            time_t when = step;
            struct tm *day = gmtime(&when);
            char text[64];
            strftime(text, sizeof text, "%Y", day);
            s += atoi(text) + day->tm_mday;
            for (int i = 0; i < N; i++)
                out[i] = i * step + 1;
            MPI_Send(out, N, MPI_DOUBLE, rank + 1, 4, MPI_COMM_WORLD); //~ give(out)
            if (getenv("NO_SUCH_NAME_AT_ALL"))
                s += 1;
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
