/* The zeros that the text begins with end what comes without its end. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 500

static double u[N];

static double sum(const double *a, int n)
{
    double s = 0.0;

    for (int i = 0; i < n; i++)
        s += a[i] * (i % 5 + 1);
    return s;
}

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        char line[N] = "";

        if (rank == 0) {
            const char *words = "a message that comes without the zero that ends it, and that is longer than an envelope";
            MPI_Send(words, (int)strlen(words) - step, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(line, N, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(line)
            total += strlen(line) + sum(u, N);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
