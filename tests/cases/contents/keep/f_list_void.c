/* A list ends at a zero, whatever its memory is said to be. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

int main(int argc, char **argv)
{
    int rank;
    long sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        int n = 8 + 9 * t;
        if (rank == 0) {
            int out[N];
            for (int i = 0; i < n; i++)
                out[i] = i + 1 + t;
            MPI_Send(out, n, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            void *in = calloc(N, sizeof(int));
            MPI_Recv(in, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI210
            for (const int *p = in; *p; p++)
                sum += *p;
            free(in);
        }
    }
    printf("%d %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
