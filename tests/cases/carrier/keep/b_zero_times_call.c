/* The index is 0 times what a function returns that counts its calls: another text of the call would lose that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static int calls;

static int width(void)
{
    calls++;
    return N;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(N * sizeof(double)), *in = malloc(N * sizeof(double));
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = 0.5 * i;
        MPI_Send(&out[0 * width()], N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI114
    } else if (rank == 1) {
        int k = 0;
        MPI_Recv(&in[0 * k++], N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI215
        double total = k;
        for (int i = 0; i < N; i++)
            total += in[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    if (rank < 2)
        printf("%d calls\n", calls);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
//~ silent: nothing reads too early; what is lost is what the index does
