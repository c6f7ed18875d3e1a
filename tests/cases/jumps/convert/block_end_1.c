/* The buffer's block ends with a label. */
#include <mpi.h>
#include <stdio.h>

#define N 400

static double sum;

static void turn(int rank, int size)
{
    double v[N];
    for (int t = 0; t < 5; t++) {
        for (int i = 0; i < N; i++)
            v[i] = i + rank + t;
        MPI_Send(v, N, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD); //~ give(v)
        MPI_Recv(v, N, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(v)
        for (int i = 0; i < N; i++)
            sum += v[i];
        if (sum > 1e5)
            goto out;
        sum += v[3];
    }
out:;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    turn(rank, size);
    printf("%d: %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
