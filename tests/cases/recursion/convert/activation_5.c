/* A quick sort halves the ranks; what a call received is sorted by another function that calls itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static void sort(double *a, int lo, int hi)
{
    int i = lo, j = hi;
    double middle = a[(lo + hi) / 2];

    while (i <= j) {
        while (a[i] < middle)
            i++;
        while (a[j] > middle)
            j--;
        if (i <= j) {
            double t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    if (lo < j)
        sort(a, lo, j);
    if (i < hi)
        sort(a, i, hi);
}

static int split(double *data, int n, MPI_Comm comm, int depth)
{
    int me, other, give, get, kept = 0;
    double *out = malloc(n * sizeof *out), *in;

    if (depth == 0) {
        free(out);
        return n;
    }
    MPI_Comm_rank(comm, &me);
    other = 1 - me;
    give = 0;
    for (int i = 0; i < n; i++)
        if ((data[i] < 300.0) == (me == 1))
            out[give++] = data[i];
        else
            data[kept++] = data[i];
    MPI_Sendrecv(&give, 1, MPI_INT, other, 0, &get, 1, MPI_INT, other, 0, comm, MPI_STATUS_IGNORE);
    in = malloc(get * sizeof *in);
    if (me == 0) {
        MPI_Send(out, give, MPI_DOUBLE, 1, 1, comm); //~ give(out)
        MPI_Recv(in, get, MPI_DOUBLE, 1, 1, comm, MPI_STATUS_IGNORE); //~ take(in)
    } else {
        MPI_Recv(in, get, MPI_DOUBLE, 0, 1, comm, MPI_STATUS_IGNORE); //~ take(in)
        MPI_Send(out, give, MPI_DOUBLE, 0, 1, comm); //~ give(out)
    }
    if (get > 1)
        sort(in, 0, get - 1);
    for (int i = 0; i < get; i++)
        data[kept + i] = in[i];
    free(in);
    free(out);
    return split(data, kept + get, comm, depth - 1);
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *data = malloc(2 * N * sizeof *data);
    int n = 0;
    for (int i = 0; i < N; i++)
        data[i] = (i * 37 + rank) % 1001;
    if (rank < 2)
        n = split(data, N, MPI_COMM_WORLD, 2);
    for (int i = 0; i < n; i++)
        v[i % N] += data[i];
    free(data);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
