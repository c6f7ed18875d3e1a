/* What is found is kept as what it is compared with. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, *a, *b;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = malloc(N * sizeof *a);
    int chosen = (a == NULL) != 0;
    if (chosen)
        MPI_Abort(MPI_COMM_WORLD, 1);
    b = malloc(N * sizeof *b);
    long other = (long)!b;
    if (other != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                a[i] = step + 0.5 * i;
            MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            for (int i = 0; i < N; i++)
                total += b[i] * (i + 1);
        }
    }
    free(a);
    free(b);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
