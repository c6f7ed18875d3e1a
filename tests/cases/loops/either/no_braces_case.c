/* A switch without braces: what would be put before the call after its label would be all that the label has. */
#include <mpi.h>
#include <stdio.h>

#define N 4000

static double b[N];

static void fill(int t)
{
    for (int i = 0; i < N; i++)
        b[i] = t + i;
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 6; t++) {
        switch (rank)
        case 0: {
            fill(t);
            MPI_Send(b, N, MPI_DOUBLE, 1, t, MPI_COMM_WORLD);
        }
        switch (rank)
        case 1:
            MPI_Recv(b, N, MPI_DOUBLE, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            for (int i = 0; i < N; i++)
                sum += b[i];
    }
    printf("%d: %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
