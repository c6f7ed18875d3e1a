/* A helper with a prototype and a const parameter, called with two different buffers. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double left[N], right[N], from_left[N], from_right[N];

static void put(const double *b, int n, int to, int tag);
static void get(double *, int n, int from, int tag);

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 2; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) { //~ hole: i = 0 => i = 1
                left[i] = u[i];
                right[i] = -u[i] + step;
            }
            put(left, N, 1, 1);
            put(right, N, 1, 2);
        } else if (rank == 1) {
            get(from_left, N, 0, 1);
            get(from_right, N, 0, 2);
            for (int i = 0; i < N; i++)
                v[i] += from_left[i] * from_right[i];
        }
    }
    if (rank == 1) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}

static void put(const double *b, int n, int to, int tag)
{
    MPI_Send(b, n, MPI_DOUBLE, to, tag, MPI_COMM_WORLD); //~ give(b)
}

static void get(double *b, int n, int from, int tag)
{
    MPI_Recv(b, n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
}
