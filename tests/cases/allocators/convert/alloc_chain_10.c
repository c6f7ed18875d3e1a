/* Whether there is memory is kept in a number after a message, too; the program has ended where there is none. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double *vector(int n)
{
    double *p = malloc(n * sizeof *p);
    int no = p == NULL;
    if (no) {
        printf("no memory\n");
        exit(1);
    }
    return p;
}

int main(int argc, char **argv)
{
    int rank, there = 0;
    double got[N], total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = vector(N);
    for (int t = 0; t < 3; t++)
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                sbuf[i] = 2.0 * i + t;
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
            there = sbuf != NULL;
        } else if (rank == 1) {
            MPI_Recv(got, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(got)
            for (int i = 0; i < N; i++)
                total += got[i];
        }
    printf("%d: %d %.17g\n", rank, there, total);
    free(sbuf);
    MPI_Finalize();
    return 0;
}
