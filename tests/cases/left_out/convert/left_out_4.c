/* Another configuration names the member that holds the buffer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

static double u[N], in[N];
static struct link {
    int n;
    double *out;
} link;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 2 * i;
    link.out = malloc(N * sizeof *link.out);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                link.out[i] = u[i] + step;
            MPI_Send(link.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(link.out)
#ifdef TRACE
            printf("sent %g\n", link.out[0]);
#endif
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                total += in[i] * (i + 1);
        }
    }
    free(link.out);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
