/* A list of records ends where a key is zero, in a copy of all that came: calloc may have put it there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 64

struct item {
    int key, val;
};

int main(int argc, char **argv)
{
    int rank;
    long sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        int n = 8 + 9 * t;
        if (rank == 0) {
            struct item out[N];
            for (int i = 0; i < n; i++) {
                out[i].key = i + 1;
                out[i].val = i * t;
            }
            MPI_Send(out, 2 * n, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            struct item list[N], *in = calloc(N, sizeof *in);
            MPI_Recv(in, 2 * N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI210
            memcpy(list, in, N * sizeof *in);
            for (int i = 0; i < N; i++) {
                if (!list[i].key)
                    break;
                sum += list[i].val;
            }
            free(in);
        }
    }
    printf("%d %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
