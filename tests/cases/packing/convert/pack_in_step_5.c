/* The loop ends early. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 512

static double u[N], v[N];

static void add(double *to, const double *from, int n)
{
    for (int i = 0, m = 0; i < n; i++, m += 2)
        to[i] += from[m] * from[m + 1];
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        u[i] = (i * 37 + rank * 11) % 101;

    double *out = malloc(4 * N * sizeof(double)), *in = malloc(4 * N * sizeof(double));
    for (int turn = 0; turn < 3; turn++) {
        int n = 0, m = 0;
        for (int i = 0; i < N; i++) {
            if (n == N / 4)
                break;
            if ((int)u[i] % 2 == 0) {
                out[m++] = u[i];
                out[m++] = i;
                ++n;
            }
        }
        if (n % 3 == turn) {
            add(v, out, n); /* kept here */
            n = -1;
        }
        int counts[2];
        MPI_Allgather(&n, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
        int coming = counts[1 - rank];
        if (n >= 0)
            MPI_Send(out, m, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD); //~ give(out)
        if (coming >= 0) {
            MPI_Recv(in, 2 * coming, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            add(v, in, coming);
        }
    }
    free(out);
    free(in);

    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
