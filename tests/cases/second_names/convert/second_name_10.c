/* A pointer of another type is set again and again, and what is packed by it is sent by the buffer's own name. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *out, *in;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(N * sizeof *out);
    in = malloc(N * sizeof *in);
    for (int step = 0; step < 6; step++) {
        int n = (step % 3 + 1) * (N / 4);
        if (rank == 0) {
            long *numbers = (long *)out;
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                numbers[i] = 5 * i + step;
            MPI_Send(numbers, n, MPI_LONG, 1, 7, MPI_COMM_WORLD); //~ give(out)
            numbers = (long *)out;
            for (int i = 0; i < n; i++)
                numbers[i] = 7 * i + step;
            MPI_Send(out, n, MPI_LONG, 1, 8, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            long *numbers = (long *)in;
            MPI_Recv(in, n, MPI_LONG, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < n; i++)
                v[i] += numbers[i];
            MPI_Recv(numbers, n, MPI_LONG, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < n; i++)
                v[i] += numbers[i];
        }
    }
    free(out);
    free(in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
