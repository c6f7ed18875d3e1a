/* The marks are made of constants, and of a number that is set before the loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double in[N], out[N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double most = atof(argc > 1 ? argv[1] : "4");
    for (int step = 0; step < 4; step++) {
        int n = step % 2 ? 150 : N;
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                out[i] = i + step;
            MPI_Send(out, n, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            for (int i = 0; i < N; i++)
                in[i] = step % 2 ? -1.0 * 5 + 2 : -most;
            MPI_Recv(in, N, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI210
            for (int i = 0; i < N; i++)
                if (in[i] >= 0)
                    sum += in[i];
        }
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
