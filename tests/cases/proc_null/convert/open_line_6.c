/* A buffer for each direction, in rows of one array; the requests in another. */
#include <mpi.h>
#include <stdio.h>

#define N 3000

static double in[2][N], out[2][N], v[N];

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL, to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    int peer[2] = { from, to };
    for (int turn = 0; turn < 3; turn++) {
        MPI_Request q[4];
        for (int d = 0; d < 2; d++)
            MPI_Irecv(in[d], N, MPI_DOUBLE, peer[d], 1, MPI_COMM_WORLD, &q[d]); //~ take(in)
        for (int d = 0; d < 2; d++) {
            for (int i = 0; i < N; i++)
                out[d][i] = v[i] + rank * d + 0.5 * i;
            MPI_Isend(out[d], N, MPI_DOUBLE, peer[d], 1, MPI_COMM_WORLD, &q[2 + d]); //~ give(out)
        }
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        for (int d = 0; d < 2; d++)
            for (int i = 0; i < N; i++)
                v[i] += in[d][i] * 0.25;
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
