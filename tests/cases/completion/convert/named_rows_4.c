/* The table is on the heap, the requests stand after another one, the turns are counted by a while. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1500

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double *low = malloc(N * sizeof(double)), *high = malloc(N * sizeof(double));
    double **in = malloc(2 * sizeof *in);
    MPI_Request req[3], sent[2];
    req[0] = MPI_REQUEST_NULL;
    in[0] = malloc(N * sizeof(double));
    in[1] = malloc(N * sizeof(double));
    for (int t = 0; t < 4; t++) {
        MPI_Irecv(in[0], N, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &req[1]); //~ take(in[0])
        MPI_Irecv(in[1], N, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &req[2]); //~ take(in[1])
        for (int i = 0; i < N; i++)
            low[i] = rank + 0.5 * i * t;
        MPI_Isend(low, N, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &sent[0]); //~ give(low)
        for (int i = 0; i < N; i++)
            high[i] = rank - 0.5 * i * t;
        MPI_Isend(high, N, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &sent[1]); //~ give(high)
        int turns = 0;
        while (turns < 2) {
            int which;
            MPI_Waitany(2, &req[1], &which, MPI_STATUS_IGNORE);
            double *p = in[which];
            for (int i = 0; i < N; i++)
                sum += (which + 1) * p[i];
            turns++;
        }
        MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
    }
    printf("%d: %.17g\n", rank, sum);
    free(in[0]);
    free(in[1]);
    free(in);
    free(low);
    free(high);
    MPI_Finalize();
    return 0;
}
