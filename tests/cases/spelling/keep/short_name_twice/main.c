#include <mpi.h>
#include <stdio.h>

#define N 400

static double out[N], kept[N], in[N], *b;

#define SEND send_new
#define LAST
#include "send.h"
#undef SEND
#undef LAST
#define SEND send_kept
#define LAST b = kept;
#include "send.h"

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        for (int i = 0; i < N; i++)
            kept[i] = 3.0 * i;
    for (int t = 0; t < 4; t++) {
        if (rank == 0) {
            if (t % 2)
                send_kept(N, t);
            else
                send_new(N, t);
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                sum += in[i] * (i % 7);
        }
    }
    printf("%d %.17g %d\n", rank, sum, b == NULL);
    MPI_Finalize();
    return 0;
}
