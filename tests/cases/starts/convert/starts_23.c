/* Macros check what the calls return, in do … while (0). */
#include <mpi.h>
#include <stdio.h>

#define CHECK(call) \
    do { \
        int error = (call); \
        if (error != MPI_SUCCESS) \
            MPI_Abort(MPI_COMM_WORLD, error); \
    } while (0)

static double out[128], in[128];
static int lo, n;

int main(int argc, char **argv)
{
    int rank, size;
    lo = argc + 1;
    n = argc + 8;
    for (int j = 0; j < n; j++)
        out[lo + j] = j;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request q;
    CHECK(MPI_Irecv(&in[lo], n, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &q)); //~ take(in)
    do {
        CHECK(MPI_Send(&out[lo], n, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD)); //~ give(out)
    } while (0);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Finalize();
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += in[lo + j];
    printf("%d %.2f\n", rank, sum);
    return 0;
}
