/* Where there is no memory, a rank waits for somebody to look: a loop without an end is none. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define N 3000

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double *out = up != MPI_PROC_NULL ? malloc(N * sizeof *out) : NULL;
    static double in[N];
    if (!out && up != MPI_PROC_NULL) {
        for (;;) {
            printf("%d: no memory\n", rank);
            sleep(60);
        }
    }
    for (int t = 0; t < 3; t++) {
        if (up != MPI_PROC_NULL) {
            for (int i = 0; i < N; i++)
                out[i] = rank + t * i;
            MPI_Send(out, N, MPI_DOUBLE, up, 7, MPI_COMM_WORLD); //~ keep(out) OPI105
        }
        if (rank > 0) {
            MPI_Recv(in, N, MPI_DOUBLE, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take
            for (int i = 0; i < N; i++)
                total += in[i] * (t + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(out);
    MPI_Finalize();
    return 0;
}
