/* How many, and where, are told by locals that are declared beside the calls. */
#include <mpi.h>
#include <stdio.h>

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
    {
        int many = n;
        MPI_Irecv(&in[lo], many, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &q); //~ take(in)
    }
    {
        const int first = lo, many = n;
        MPI_Send(&out[first], many, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD); //~ give(out)
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Finalize();
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += in[lo + j];
    printf("%d %.2f\n", rank, sum);
    return 0;
}
