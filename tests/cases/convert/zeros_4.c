/* Two arrays that begin with zeros, one of them read before MPI_Init, and neither in main. */
#include <mpi.h>
#include <stdio.h>

#define N 600

static double out[N], back[N];
static double first;

static void look(void)
{
    first = out[N - 1];
}

static void master(void)
{
    for (int i = 0; i < N; i++)
        back[i] += i;
    for (int i = 0; i < N; i++)
        out[i] = i + first;
    MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(out)
    MPI_Send(back, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ give(back)
}

static void worker(void)
{
    double s = 0;
    MPI_Recv(out, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(out)
    for (int i = 0; i < N; i++)
        s += out[i] * i;
    MPI_Recv(back, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(back)
    for (int i = 0; i < N; i++)
        s -= back[i] * (i % 7);
    printf("%.17g\n", s);
}

int main(int argc, char **argv)
{
    int rank;

    look();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        master();
    else if (rank == 1)
        worker();
    MPI_Finalize();
    return 0;
}
