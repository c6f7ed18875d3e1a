/* Static arrays: the ends of the line read the zeros that were there from the start. */
#include <mpi.h>
#include <stdio.h>

#define N 3000

static double left_in[N], right_in[N], left_out[N], right_out[N], v[N];

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL, to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Request q[4];
        MPI_Irecv(left_in, N, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &q[0]); //~ take(left_in)
        MPI_Irecv(right_in, N, MPI_DOUBLE, to, 2, MPI_COMM_WORLD, &q[1]); //~ take(right_in)
        for (int i = 0; i < N; i++) {
            left_out[i] = v[i] + i * 0.5;
            right_out[i] = v[i] - rank;
        }
        MPI_Isend(right_out, N, MPI_DOUBLE, to, 1, MPI_COMM_WORLD, &q[2]); //~ give(right_out)
        MPI_Isend(left_out, N, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, &q[3]); //~ give(left_out)
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += left_in[i] - 0.25 * right_in[i] + turn;
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
