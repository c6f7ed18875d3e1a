/* Halves of a field, down to single elements, filled between two messages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double out[N], in[N];

static void fill(double *to, int n, double low, double high)
{
    if (n <= 2) {
        to[0] = low;
        to[n - 1] = high;
        return;
    }
    double middle = 0.5 * (low + high);
    fill(to, n / 2, low, middle);
    fill(to + n / 2, n - n / 2, middle, high);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            fill(u, N, 0.0, step + 1.0);
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                v[i] += in[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
