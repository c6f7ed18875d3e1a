/* A persistent collective reads all of the memory when it is started. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    static double in[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        double *out = malloc(N * sizeof(double));
        if (!out) exit(1);
        static double all[N];
        MPI_Request q;
        MPI_Allreduce_init(out, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &q);
        for (int k = 0; k < N; k += 200) {
            for (int i = k; i < k + 200; i++)
                out[i] = i + 1;
            MPI_Send(&out[k], 200, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(out)
        }
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Request_free(&q);
        for (int i = 0; i < N; i++)
            sum += all[i];
        free(out);
    } else if (rank == 1) {
        for (int k = 0; k < N; k += 200)
            MPI_Recv(&in[k], 200, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++) sum += in[i];
    }
    printf("%d %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
