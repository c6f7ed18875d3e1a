/* Otherwise it is other memory, which is in the program's hands all the time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double work[300];

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *s = rank % 2 ? malloc((size_t)n * sizeof *s) : work;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < n; i++)
            s[i] = x + i;
        double r[300];
        MPI_Sendrecv(s, n, MPI_DOUBLE, (rank + 1) % size, 0, r, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(s) OPI402 take(r)
        for (int i = 0; i < n; i++)
            x += r[i] * 0.001;
        x += work[k];
    }
    printf("%d %.17g\n", rank, x);
    if (rank % 2)
        free(s);
    MPI_Finalize();
    return 0;
}
