/* What frees the memory has it done by a function that counts its calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double u[N], v[2 * N];
static int calls;

static void give_back(void *memory)
{
    free(memory);
    calls++;
}

static void release(void *memory)
{
    give_back(memory);
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *in = malloc(2 * (size_t)n * sizeof(double));
    double *out = in + n;
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < n; i++)
            out[i] = u[i] + step;
        MPI_Sendrecv(out, n, MPI_DOUBLE, 1 - rank, 0, in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(out) keep(in)
        for (int i = 0; i < n; i++)
            v[i] += in[i];
    }
    release(in);
    total += calls;
    for (int i = 0; i < 2 * N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ silent: nothing is wrong with the memory, which is freed once more for the other part
