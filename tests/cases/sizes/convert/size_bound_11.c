/* The size is a list: the parentheses around it are those of the call of malloc. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define LOGGED(x) printf("asking for %d\n", (int)(x)), (x)

int main(int argc, char **argv)
{
    int rank, n = 2048;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        n = atoi(argv[1]);
    double *buf;
    buf = malloc((LOGGED(n) * sizeof(double)));
    for (int t = 0; t < 4; t++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                buf[i] = i + t;
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
