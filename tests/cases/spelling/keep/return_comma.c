/* The value of a return is what is after a comma. */
#include <mpi.h>
#include <stdio.h>
#define N 300

static double total;

static double note(double x)
{
    total += x;
    return x;
}

static double sum(int peer, int t)
{
    double in[N];
    MPI_Recv(in, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI215
    note(t);
    return note(in[1]), total;
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
    printf("%d %g %g\n", rank, s, total);
    MPI_Finalize();
    return 0;
}
