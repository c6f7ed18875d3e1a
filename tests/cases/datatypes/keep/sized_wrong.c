/* The datatype that the size chooses is shorter than the elements that are packed and read: half of them travels. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

typedef double real;
static real u[N], v[N];
static MPI_Datatype real_type;

static void set_types(void)
{
    if (sizeof(real) == 8)
        real_type = MPI_FLOAT;
    else
        real_type = MPI_DOUBLE;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    real *out = malloc(N * sizeof(real)), *in = malloc(N * sizeof(real));

    if (!out || !in)
        exit(1);
    MPI_Init(&argc, &argv);
    set_types();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = (rank + 7 * i) % 11 + 0.5;
    for (int step = 0; step < 4; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                out[i] = u[i];
            MPI_Send(out, N, real_type, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(in, N, real_type, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
            for (int i = 0; i < N; i++)
                v[i] += in[i];
        }
        for (int i = 0; i < N; i++)
            u[i] += 0.25 * v[i] - step;
    }
    free(out);
    free(in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
