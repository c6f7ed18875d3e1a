/* Defaults are put into an array once, and copied to the buffer before each receive. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 600

static double in[N], out[N], u[N], defaults[N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) {
        u[i] = rank;
        defaults[i] = -1.0 - i;
    }
    for (int step = 0; step < 4; step++) {
        int n = step % 2 ? 150 : N;
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                out[i] = i + step + u[i];
            MPI_Send(out, n, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            memcpy(in, defaults, sizeof in);
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
