/* A signal ends the program inside the loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <unistd.h>
#define N 2048

static double u[N], v[N];
static double sum;

static void leave(int number)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%.17g\n", sum + number - number);

    if (write(1, text, (size_t)n) == n)
        _exit(0);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int n = argc > 1 ? 4 : -1;
    double *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    out = malloc(N * sizeof *out);
    in = malloc(N * sizeof *in);
    for (int i = 0; i < N; i++)
        in[i] = i;
    signal(SIGUSR1, leave);
    if (n > 8)
        return 1;
    if (rank == 0) {
        for (int i = 0; i < 8; i++)
            out[i] = u[i];
        MPI_Send(out, 8, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(in, 8, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        for (size_t i = 0; i < (size_t)n; i++) {
            sum += in[i];
            if (i == 30)
                raise(SIGUSR1);
        }
    }
    if (rank != 1)
        MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
