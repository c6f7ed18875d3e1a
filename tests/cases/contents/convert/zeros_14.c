/* All cells are read, and only those that are set are counted. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 600

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 4; t++) {
        if (rank == 0) {
            static char w[N];
            memset(w, 'a' + t, N);
            MPI_Send(w, N, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            char *a = calloc(N, sizeof *a);
            MPI_Recv(a, N, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a)
            for (int i = 0; i < N; i++)
                if (a[i] == 'b')
                    sum++;
            free(a);
        }
    }
    printf("%d %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
