/* What a short name was set to has another value in its block, before the name is used. */
#include <mpi.h>
#include <stdio.h>

#define N 400

static double out[N], other[N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        for (int t = 0; t < 3; t++) {
            double *now = out;
            for (int i = 0; i < N; i++)
                out[i] = i + t;
            for (int i = 0; i < N; i++)
                other[i] = 2 * i;
            MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
            {
                double *row = now;
                now = other;
                for (int i = 0; i < N; i++)
                    sum += row[i];
            }
        }
    else if (rank == 1)
        for (int t = 0; t < 3; t++) {
            static double in[N];
            MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                sum += in[i];
        }
    printf("%d: %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
