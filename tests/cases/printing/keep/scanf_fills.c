/* Numbers are read into a buffer: what may not be read is what was there, zeros of the one, nothing of the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 100

static int zeros[N], h[N];

int main(int argc, char **argv)
{
    int rank, total = 0;
    int *m = malloc(N * sizeof *m), *k = malloc(N * sizeof *k);
    const char *text = "12";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sscanf(i % 3 ? text : "x", "%d", &zeros[i]);
        MPI_Send(zeros, N, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ keep(zeros) OPI102
        for (int i = 0; i < N; i++) {
            if (sscanf(text, "%d", &m[i]) != 1)
                MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Send(m, N, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ give(m)
    } else if (rank == 1) {
        MPI_Recv(h, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(h)
        MPI_Recv(k, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(k)
        for (int i = 0; i < N; i++)
            total += (i % 5) * h[i] + k[i];
        printf("%d\n", total);
    }
    free(m);
    free(k);
    MPI_Finalize();
    return 0;
}
