/* Members of a struct, and a size that changes after the allocation: it is kept where the program asked for it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct side {
    double *out, *in;
};

static struct side east;

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    east.out = rank + 1 < size ? malloc((size_t)n * sizeof *east.out) : NULL;
    east.in = rank > 0 ? malloc((size_t)n * sizeof *east.in) : NULL;
    n -= 100;
    for (int k = 0; k < 4; k++) {
        if (rank + 1 < size) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                east.out[i] = x + i;
            MPI_Send(east.out, n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD); //~ give(east.out)
        }
        if (rank > 0) {
            MPI_Recv(east.in, n, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(east.in)
            for (int i = 0; i < n; i++)
                x += east.in[i] * 0.001;
        }
    }
    printf("%d %.17g\n", rank, x);
    free(east.out);
    free(east.in);
    MPI_Finalize();
    return 0;
}
