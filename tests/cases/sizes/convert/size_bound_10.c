/* The size begins with a macro with arguments: the larger of two numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))

int main(int argc, char **argv)
{
    int rank, n = 2048, m = 300;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2)
        m = atoi(argv[2]);
    double *buf = malloc(MAX(n, m) * sizeof(double));
    double total = 0.0;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                buf[i] = i + step;
            MPI_Send(buf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(buf)
        } else if (rank == 1) {
            MPI_Recv(buf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(buf)
            for (int i = 0; i < n; i++)
                total += buf[i] * (i + 1);
        }
    }
    free(buf);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
