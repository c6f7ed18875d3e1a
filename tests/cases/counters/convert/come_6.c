/* Of several statuses each tells how much its own message has. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        double *out = malloc(N * sizeof *out);
        if (out == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        for (int i = 0; i < N; i++)
            out[i] = i + 0.5;
        MPI_Send(out, N - 20 * argc, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        MPI_Send(out, N - 40 * argc, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        free(out);
    }
    if (rank == 0) {
        double *a = malloc(N * sizeof *a), *b = malloc((N + 50) * sizeof *b), sum = 0;
        MPI_Status of_a, of_b;
        int count, more;
        if (a == NULL || b == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Recv(a, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &of_a); //~ take(a) no-stale-count
        MPI_Recv(b, N + 50, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &of_b); //~ take(b) no-stale-count
        MPI_Get_count(&of_a, MPI_DOUBLE, &count);
        MPI_Get_count(&of_b, MPI_DOUBLE, &more);
        for (int i = 0; i < count; i++)
            sum += a[i] * (i + 1);
        for (int i = 0; i < more; i++)
            sum -= b[i] * (i + 2);
        printf("%d %d %.1f\n", count, more, sum);
        free(a);
        free(b);
    }
    MPI_Finalize();
    return 0;
}
