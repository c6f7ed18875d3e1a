/* A variable of the file has the name that the value of the return would get. */
#include <mpi.h>
#include <stdio.h>
#define N 300

static double total, opi_result = 5;

static double note(double x)
{
    total += x;
    return x;
}

static double sum(int peer, int t)
{
    double in[N];
    MPI_Recv(in, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    note(t);
    return in[1] * opi_result;
}

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    static double out[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = i + t;
            MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            s += sum(0, t);
        }
    }
    printf("%d %g %g\n", rank, s, opi_result);
    MPI_Finalize();
    return 0;
}
