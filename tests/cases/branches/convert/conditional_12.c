/* What a process is says a switch; what it reads later, an if. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double a[N], b[N], c[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    switch (rank) {
    case 0:
        for (int i = 0; i < N; i++)
            a[i] = i;
        MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
        break;
    case 1:
        MPI_Recv(a, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a)
        break;
    }
    if (rank == 1)
        for (int i = 0; i < N; i++)
            total += a[i] * (i + 1);
    switch (rank) {
    default:
        break;
    case 0:
        for (int i = 0; i < N; i++)
            b[i] = 2 * i;
        MPI_Send(b, N, MPI_DOUBLE, rank + 1, 8, MPI_COMM_WORLD); //~ give(b)
        break;
    case 1:
        MPI_Recv(b, N, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
    }
    if (rank == 1)
        for (int i = 0; i < N; i++)
            total += b[i] * (i + 2);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            c[i] = 3 * i;
        MPI_Send(c, N, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD); //~ give(c)
    } else if (rank == 1)
        MPI_Recv(c, N, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(c)
    switch (rank) {
    case 0:
        total += 0.5;
        break;
    case 1:
        for (int i = 0; i < N; i++)
            total += c[i] * (i + 3);
        break;
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
