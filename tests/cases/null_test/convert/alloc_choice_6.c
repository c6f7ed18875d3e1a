/* In the declaration, with a size that changes after it: what was asked for is kept, where something was. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    long x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int partner = rank ^ 1;
    int *s = partner >= size || n < 10 ? NULL : malloc((size_t)n * sizeof *s);
    int *r = partner < size && n >= 10 ? malloc((size_t)n * sizeof *r) : NULL;
    n /= 2;
    for (int k = 0; k < 4; k++, n -= 10) {
        if (partner >= size)
            continue;
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            s[i] = (int)x % 100 + i;
        MPI_Sendrecv(s, n, MPI_INT, partner, 0, r, n, MPI_INT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(s) take(r)
        for (int i = 0; i < n; i++)
            x += r[i];
    }
    printf("%d %ld\n", rank, x);
    free(s);
    free(r);
    MPI_Finalize();
    return 0;
}
