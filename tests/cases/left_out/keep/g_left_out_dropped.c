/* A macro leaves out its argument, the buffer that was sent; on another system it does not. */
#include <mpi.h>
#include <stdio.h>
#define N 400
#ifdef _WIN32
#define LOG(x) printf x
#else
#define LOG(x)
#endif
int main(int argc, char **argv)
{
    int rank;
    double total = 0.0, in[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double buf[N];
    for (int i = 0; i < N; i++)
        buf[i] = rank + i;
    MPI_Send(buf, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD); //~ keep OPI112
    LOG(("%g\n", buf[1]));
    MPI_Recv(in, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        total += in[i];
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
