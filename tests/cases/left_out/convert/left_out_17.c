/* Another configuration defines a macro by the buffer, after whose send it is used. */
#include <mpi.h>
#include <stdio.h>
#define N 400
#ifdef WIDE
#define TOO total += buf[1]
#else
#define TOO (void)0
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
    MPI_Send(buf, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD); //~ give(buf)
    TOO;
    MPI_Recv(in, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    for (int i = 0; i < N; i++)
        total += in[i];
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
