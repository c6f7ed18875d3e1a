/* An array of variable length is made in each turn, with another number than that of the message. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double all[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int n = N; n < N + 3; n++) {
            for (int i = 0; i < N; i++)
                all[i] = (i * 37) % 1001 + n;
            MPI_Send(all, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(all)
        }
    } else if (rank == 1) {
        for (int n = N; n < N + 3; n++) {
            double part[n + 1];
            unsigned at = 1;
            for (int i = 0; i <= n; i++)
                part[i] = i;
            MPI_Recv(part, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(part)
            for (int i = 0; i < n; i++) {
                at = (at * 1103515245u + 12345u) % (n + 1);
                total += part[at];
            }
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
