/* A master gives work to a worker and takes results from any source. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double work[N], result[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int k = 0; k < 5; k++) {
            MPI_Status st;
            for (int i = 0; i < N; i++)
                work[i] = u[i] + k;
            MPI_Send(work, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(result, N, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
            for (int i = 0; i < N; i++)
                v[i] += result[i] * st.MPI_TAG;
        }
        MPI_Send(NULL, 0, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    } else if (rank == 1) {
        for (;;) {
            MPI_Status st;
            MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
            if (st.MPI_TAG == 0) {
                MPI_Recv(NULL, 0, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                break;
            }
            MPI_Recv(work, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                result[i] = work[i] * work[i];
            MPI_Send(result, N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
