/* Unsigned counters with known ends are made wider: in a subscript, and as the parameter of a function. */
#include <mpi.h>
#include <stdio.h>

#define N 600

static double u[N], sbuf[N], more[N], rbuf[N];

static inline void put(double *a, long i, double x)
{
    a[i] = x;
}

int main(int argc, char **argv)
{
    int rank;
    double s = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.25 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (unsigned i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                sbuf[(long)i] = 2.0 * u[i] + t;
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
            for (unsigned i = 0; i < N; i++)
                put(more, i, u[i] - t);
            MPI_Send(more, N, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD); //~ give(more)
        } else if (rank == 1) {
            for (int tag = 7; tag < 9; tag++) {
                MPI_Recv(rbuf, N, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
                for (unsigned i = 0; i < N; i++)
                    s += rbuf[(size_t)i] * (i % 7 + tag);
            }
        }
    }
    printf("%d %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
