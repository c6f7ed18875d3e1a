/* Members of a struct, and a test of what calloc returned. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct field {
    float *out;
    float *in;
    int n;
};

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    struct field f;
    f.n = N;
    if (!(f.out = (float *)calloc((size_t)f.n, sizeof(float))))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if ((f.in = (float *)calloc((size_t)f.n, sizeof(float))) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) {
        f.out[3] = (float)u[3];
        MPI_Send(f.out, f.n, MPI_FLOAT, 1, 7, MPI_COMM_WORLD); //~ give(f.out)
    } else if (rank == 1) {
        v[5] = f.in[5];
        MPI_Recv(f.in, f.n, MPI_FLOAT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(f.in)
        for (int i = 0; i < f.n; i++)
            v[i] += f.in[i];
    }
    free(f.out);
    free(f.in);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
