/* The counter is a member of a local struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    double *out = malloc(N * sizeof(double)), *in = malloc(N * sizeof(double));

    if (!out || !in)
        exit(1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = (rank + 7 * i) % 11 + 0.5;
    for (int step = 0; step < 4; step++) {
        if (rank == 0) {
            struct {
                int count, passed;
            } leaving;

            leaving.count = leaving.passed = 0;
            for (int i = 0; i < N; i++) {
                if (u[i] > 2.0)
                    out[leaving.count++] = u[i];
                else
                    leaving.passed++;
            }
            MPI_Send(out, leaving.count, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            int n;
            MPI_Status status;

            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &status); //~ take(in) no-stale-count
            MPI_Get_count(&status, MPI_DOUBLE, &n);
            for (int i = 0; i < n; i++)
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
