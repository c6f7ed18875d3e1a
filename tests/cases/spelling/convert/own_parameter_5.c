/* Functions with prototypes, comments and a macro's type around the parameters. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define REAL double
#define IN
#define ROOM(n) ((REAL *)malloc((n) * sizeof(REAL)))

double rotate(IN REAL *v, int n, int next, int last, REAL *tmp /* room for a copy */, int times);

double rotate(IN REAL *v, /* what goes round */
              int n, int next, int last,
              REAL *tmp,
              int times)
{ /* begins */
    REAL got = 0;

    for (int t = 0; t < times; t++) {
        tmp = ROOM(n);
        for (int i = 0; i < n; i++)
            tmp[i] = v[i] * (t + 1);
        MPI_Send(tmp, n, MPI_DOUBLE, next, 8, MPI_COMM_WORLD); //~ give(tmp)
        MPI_Recv(tmp, n, MPI_DOUBLE, last, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(tmp) no-stale-count
        for (int i = 0; i < n; i++)
            got += tmp[i] * i;
        free(tmp);
    }
    return got;
}

int main(int argc, char **argv)
{
    int rank, size, n = 45;
    double v[45];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < n; i++)
        v[i] = i + 0.125 * rank;
    printf("%d: %.17g\n", rank, rotate(v, n, (rank + 1) % size, (rank + size - 1) % size, NULL, 3));
    MPI_Finalize();
    return 0;
}
