/* Halves are exchanged and added up in a block of zeros. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 240

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int t = 0; t < 3; t++) {
        static double out[N];
        for (int i = 0; i < N; i++)
            out[i] = rank + t * i;
        double *in = calloc(N, sizeof *in), *all = calloc(N, sizeof *all);
        MPI_Request request;
        MPI_Isend(out, N, MPI_DOUBLE, next, t, MPI_COMM_WORLD, &request);
        MPI_Recv(in, N, MPI_DOUBLE, last, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i += 2)
            all[i / 2] += in[i] + in[i + 1];
        for (int i = 0; i < N; i++)
            sum += all[i] * (i + 1);
        free(in);
        free(all);
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
