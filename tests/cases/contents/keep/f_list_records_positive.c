/* A list of records ends where a key is not positive: calloc may have put the zero there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

struct item {
    double weight;
    int key;
};

int main(int argc, char **argv)
{
    int rank;
    long sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct item *in = calloc(N, sizeof *in);
    for (int t = 0; t < 3; t++) {
        int n = 8 + 9 * t;
        if (rank == 0) {
            struct item out[N];
            for (int i = 0; i < n; i++) {
                out[i].weight = i * t;
                out[i].key = i + 1;
            }
            MPI_Send(out, n * sizeof *out, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(in, N * sizeof *in, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI210
            for (int i = 0; in[i].key > 0; i++)
                sum += (long)in[i].weight;
        }
    }
    printf("%d %ld\n", rank, sum);
    free(in);
    MPI_Finalize();
    return 0;
}
