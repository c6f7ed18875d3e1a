/* Both messages are packed before both are sent, and read in the other order. */
#include <mpi.h>
#include <stdio.h>

static double out[256], in[256], field[64];
static int lo, hi;

static int pack(double *b, const double *from, int n)
{
    if (n < 1)
        return 0;
    while (n-- > 0)
        *b++ = *from++;
    return 1;
}

static double sum(const double *b, int n)
{
    double s = 0;
    for (int j = 0; j < n; j++)
        s += (j + 1) * b[j];
    return s;
}

static void put(int peer)
{
    MPI_Request q[2];
    int n = hi - lo;
    pack(&out[lo], field, n);
    pack(out + (lo + n), field + 20, 2 * n);
    MPI_Isend(&out[lo], n, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &q[0]); //~ give(out)
    MPI_Isend(&out[lo + n], 2 * n, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, &q[1]); //~ give(out)
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

static void get(int peer)
{
    int n = hi - lo;
    MPI_Recv(&in[lo], n, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    MPI_Recv(&in[lo + n], 2 * n, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    field[2] += sum(in + (lo + n), 2 * n);
    field[0] += sum(in + lo, n);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    lo = argc + 1;
    hi = argc + 9;
    for (int i = 0; i < 64; i++)
        field[i] = i + 100 * rank;
    for (int step = 0; step < 3; step++) {
        if (rank == 0 && size > 1)
            put(1);
        if (rank == 1)
            get(0);
        field[lo + 2] += 0.5;
    }
    double sum = 0;
    for (int i = 0; i < 64; i++)
        sum += field[i] * (i + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
