/* A macro counts by `++` through a pointer, as what a case does; once it has counted, the sender reads. */
#include <mpi.h>
#include <stdio.h>

#define N 2048
#define COUNT ++*count

static double a[N];

int main(int argc, char **argv)
{
    int rank, turn = 0, *count = &turn;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            a[i] = i;
        MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI101
        switch (rank) {
        case 0:
            COUNT;
        }
        if (turn == 1)
            for (int i = 0; i < N; i++)
                total += a[i];
    } else if (rank == 1) {
        MPI_Recv(a, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += a[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
