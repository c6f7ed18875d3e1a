/* What the second part has is a number that has changed since the allocation. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double u[N], got[N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N, m = argc > 6 ? 20 : 300;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    int count = m;
    double *work = malloc((size_t)(n + m) * sizeof(double)), *out;
    m = 5;
    out = work + n;
    u[0] += m;
    for (int step = 0; step < 3; step++) {
        MPI_Request rq[2];
        MPI_Irecv(got, count, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]);
        for (int i = 0; i < n; i++)
            work[i] = u[i] + step;
        for (int i = 0; i < count; i++)
            out[i] = u[i] - step;
        MPI_Isend(out, count, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            u[i] += work[i];
        u[0] += got[count - 1];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(work);
    MPI_Finalize();
    return 0;
}
//~ points 4
