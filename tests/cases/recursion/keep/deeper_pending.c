/* A deeper level begins to send what was received, and ends that later. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double all[N];
static MPI_Request pending[2];

static double sum(double *a, int n, int depth)
{
    if (depth == 2)
        MPI_Isend(a, 4, MPI_DOUBLE, 1, 99, MPI_COMM_WORLD, &pending[0]);
    if (depth == 2 || n < 2)
        return a[0];
    return sum(a, n / 2, depth + 1) + a[n - 1];
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int step = 0; step < 2; step++) {
            for (int i = 0; i < N; i++)
                all[i] = (i * 37) % 1001 + step;
            MPI_Send(all, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        }
    } else if (rank == 1) {
        double *part = malloc(N * sizeof *part);
        for (int step = 0; step < 2; step++) {
            MPI_Recv(part, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(part)
            static double back[4];
            total += sum(part, N, 0);
            MPI_Irecv(back, 4, MPI_DOUBLE, 1, 99, MPI_COMM_WORLD, &pending[1]);
            if (step == 1)
                part[0] = total;
            MPI_Waitall(2, pending, MPI_STATUSES_IGNORE);
            total += back[2];
        }
        free(part);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
