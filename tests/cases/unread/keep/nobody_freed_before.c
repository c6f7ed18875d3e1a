/* One receive stands in a condition: what it could free before that, the other arm needs, where nobody is there. */
#include <mpi.h>
#include <stdio.h>

#define N 300

static double v[N], out[N];

static void turn(int t, int from, int around)
{
    static double in[N];

    if (t % 2 && MPI_Recv(in, N, MPI_DOUBLE, around, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS) { //~ keep(in) OPI215
        for (int i = 0; i < N; i++)
            v[i] += in[i];
    } else {
        if (t % 2 == 0)
            MPI_Recv(in, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace(in)
        for (int i = 0; i < N; i++)
            v[i] += in[i] * 2;
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL, to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int t = 0; t < 5; t++) {
        for (int i = 0; i < N; i++)
            out[i] = v[i] + rank + 0.5 * i * t;
        MPI_Send(out, N, MPI_DOUBLE, t % 2 ? (rank + 1) % size : to, 3, MPI_COMM_WORLD);
        turn(t, from, (rank + size - 1) % size);
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
