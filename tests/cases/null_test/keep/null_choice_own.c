/* The condition is about the pointer itself, which holds memory of before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = 300, made = 0;
    double x = 1, *s = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < 4; k++) {
        double *old = s;
        s = s ? NULL : malloc((size_t)n * sizeof *s);
        free(old);
        made += s != NULL;
        if (!s)
            continue;
        for (int i = 0; i < n; i++)
            s[i] = x + i;
        double r[300];
        MPI_Sendrecv(s, n, MPI_DOUBLE, (rank + 1) % size, 0, r, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(s) OPI114 take(r)
        for (int i = 0; i < n; i++)
            x += r[i] * 0.001;
    }
    printf("%d %d %.17g\n", rank, made, x);
    free(s);
    MPI_Finalize();
    return 0;
}
