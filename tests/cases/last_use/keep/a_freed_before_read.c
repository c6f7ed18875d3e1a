/* The receive stands in the condition of the first turn: what is freed before that is read by the next turns, and
 * memory that is made for them then has nothing of it. */
#include <mpi.h>
#include <stdio.h>

#define N 300

static double v[N], out[N];

static void run(int around)
{
    static double in[N];

    for (int t = 0; t < 5; t++) {
        if (t == 0 && MPI_Recv(in, N, MPI_DOUBLE, around, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS) { //~ keep(in) OPI215
            for (int i = 0; i < N; i++)
                v[i] += in[i];
        } else if (t > 0) {
            for (int i = 0; i < N; i++)
                v[i] += in[i] * t;
        }
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        out[i] = rank + 0.5 * i;
    MPI_Send(out, N, MPI_DOUBLE, (rank + 1) % size, 3, MPI_COMM_WORLD);
    run((rank + size - 1) % size);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 13 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
