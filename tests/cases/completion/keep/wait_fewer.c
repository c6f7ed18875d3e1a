/* The second call waits for one of the requests only. */
#include <mpi.h>
#include <stdio.h>

#define N 400

static double u[2 * N], v[2][N];

static double left[N], right[N];

static void take_left(void)
{
    for (int i = 0; i < N; i++)
        u[i] += left[i];
}

static void take_right(void)
{
    for (int i = 0; i < N; i++)
        u[N + i] += right[i];
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Request in[2], out[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        int which = -1;
        MPI_Irecv(left, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &in[0]);
        MPI_Irecv(right, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &in[1]); //~ keep
        for (int i = 0; i < N; i++) {
            v[0][i] = u[i];
            v[1][i] = u[N + i];
        }
        MPI_Isend(v[1], N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &out[1]);
        MPI_Isend(v[0], N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &out[0]);
        MPI_Waitany(2, in, &which, MPI_STATUS_IGNORE);
        if (which == 0)
            take_left();
        if (which == 1)
            take_right();
        MPI_Waitany(1, in, &which, MPI_STATUS_IGNORE);
        if (which == 0)
            take_left();
        if (which == 1)
            take_right();
        MPI_Waitall(2, out, MPI_STATUSES_IGNORE);
    }
    double total = 0.0;
    for (int i = 0; i < 2 * N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
