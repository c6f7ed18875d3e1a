/* The size stands in the library's own memory, which a call farther on in the declaration changes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 301

int main(int argc, char **argv)
{
    int rank;
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++) {
        time_t then = 0, later = 86400;
        struct tm *day = gmtime(&then);
        double *in = malloc(N * sizeof *in);
        double *out = aligned_alloc(64, (day->tm_mday == 1 ? N : 3) * sizeof *out), next = gmtime(&later)->tm_mday;
        total += next;
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = (i * 7) % 11 + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ keep(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += in[i] * i;
        }
        free(out);
        free(in);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
