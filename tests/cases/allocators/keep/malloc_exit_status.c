/* Where there is no memory the program ends with a status that is 0: nothing to do is no error. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int status;

int main(int argc, char **argv)
{
    int rank, size, n = 2048;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *sbuf = aligned_alloc(16, n * sizeof(double)), *rbuf = aligned_alloc(16, n * sizeof(double));
    if (!sbuf) {
        printf("left out\n");
        exit(status);
    }
    if (!rbuf) {
        printf("left out\n");
        exit(status);
    }
    for (int i = 0; i < n; i++)
        sbuf[i] = i + rank;
    MPI_Sendrecv(sbuf, n, MPI_DOUBLE, (rank + 1) % size, 0, //~ keep
                 rbuf, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double s = 0;
    for (int i = 0; i < n; i++)
        s += rbuf[i] * i;
    printf("%d: %.17g\n", rank, s);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
