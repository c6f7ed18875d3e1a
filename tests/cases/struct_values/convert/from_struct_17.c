/* Both arrays are in one struct; what comes is read by a counter through rows and columns. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 24

static struct {
    int calls;
    double in[N], out[N];
} halo;
static double u[N];

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? atoi(argv[5]) : N / 4, rows = argc > 6 ? atoi(argv[6]) : 4;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        MPI_Request rq[2];
        int p = 0, peer = 1 - rank;
        if (rank < 2) {
            MPI_Irecv(halo.in, rows * n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[0]); //~ take(halo.in)
            for (int j = 0; j < rows; j++)
                for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                    halo.out[j * n + i] = u[j * n + i] + t;
            MPI_Isend(halo.out, rows * n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[1]); //~ give(halo.out)
            MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
            for (int j = 0; j < rows; j++)
                for (int i = 0; i < n; i++)
                    u[j * n + i] += halo.in[p++];
            halo.calls++;
        }
    }
    for (int i = 0; i < N; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
