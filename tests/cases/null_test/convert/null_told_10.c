/* Without memory all ranks end in good order; macros write the calls, with what they pass in parentheses. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SEND(p, n, to) MPI_Send((p), (n), MPI_DOUBLE, (to), 0, MPI_COMM_WORLD)
#define RECV(p, n, from) MPI_Recv((p), (n), MPI_DOUBLE, (from), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 0, *b = malloc((size_t)-1 / (argc < 9 ? 16 : 1 << 20));
    int n = 1000;
    if (!b) {
        printf("%d: not enough memory, try a smaller problem\n", rank);
        MPI_Finalize();
        return 2;
    }
    if (rank == 0) {
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            b[i] = i;
        SEND(b, n, 1); //~ give(b)
    } else if (rank == 1) {
        RECV(b, n, 0); //~ take(b)
        for (int i = 0; i < n; i++)
            x += b[i];
    }
    printf("%d %g\n", rank, x);
    free(b);
    MPI_Finalize();
    return 0;
}
