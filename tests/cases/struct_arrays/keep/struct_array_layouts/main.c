/* Two files see one block of memory as different structs: the array of one lies elsewhere in the other. */
//~ flags -fcommon
#include <mpi.h>
#include <stdio.h>
#define N 24

struct {
    double out[N], rest[N];
} block;

void add(int n);

int main(int argc, char **argv)
{
    static double got[N];
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                block.out[i] = i + t;
            add(argc + 3);
            MPI_Send(block.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(got, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < N; i++)
            total += got[i] * (i + 1);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
