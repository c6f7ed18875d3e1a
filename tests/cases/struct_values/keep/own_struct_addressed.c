/* The address of the pointer in the struct goes to a function, which looks after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
struct own {
    double *b;
    double *other;
};

static double *second(double **first)
{
    return ((struct own *)(void *)first)->other;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    static double out[N], in[N], zero[N];
    struct own own;
    own.b = out;
    own.other = zero;
    double *r = in;
    total += second(&own.b)[0];
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                own.b[i] = u[i] + step;
            MPI_Send(own.b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(own.b)
        } else if (rank == 1) {
            MPI_Recv(r, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(r)
            for (int i = 0; i < N; i++)
                v[i] += r[i];
        }
    }

    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ silent: the other pointer is to memory of its own
