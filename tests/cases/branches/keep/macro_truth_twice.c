/* A macro's body negates twice, which is the number's truth, and the sender reads where it holds. */
#include <mpi.h>
#include <stdio.h>

#define N 2048
#define IS(x) !!(x)

static double a[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            a[i] = i;
        MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI101
        int once = 1;
        if (IS(once))
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
