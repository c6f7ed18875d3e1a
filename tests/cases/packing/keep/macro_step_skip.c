/* A macro goes one place on by `++`, and nothing is put there. */
#include <mpi.h>
#include <stdio.h>
#define N 600
#define SKIP n++
static double b[N], u[N];
int main(int argc, char **argv)
{
    int rank;
    double total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        b[i] = 1000 + i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int n = 0;
            for (int i = 0; i < N; i++)
                if ((i + t) % 3 == 0)
                    SKIP;
                else {
                    b[n] = i * t;
                    n = n + 1;
                }
            MPI_Send(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep OPI102
        } else if (rank == 1) {
            MPI_Recv(u, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += u[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
