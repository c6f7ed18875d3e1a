/* What a compiler may assume is a function of the program here, and reads what was sent. */
//~ flags -fopenmp
#include <mpi.h>
#include <stdio.h>

#define N 3000

static double in[N], out[N], seen;

void __assume(int holds)
{
    if (holds)
        seen += out[1];
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = i + t;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out)
            __assume(t >= 0);
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total + seen);
    MPI_Finalize();
    return 0;
}
