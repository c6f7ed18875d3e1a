/* A table of structs with hooks; one of them is set in no entry. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

struct entry {
    const char *name;
    double (*value)(const double *, int);
    void (*finish)(double, double);
};
static double first(const double *a, int n)
{
    return a[0] + n;
}
static double last(const double *a, int n)
{
    return a[n - 1];
}
static struct entry table[2] = {{"first", first, NULL}, {"last", last, NULL}};

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        for (int k = 0; k < 2; k++) {
            printf("%s %g\n", table[k].name, table[k].value(u, N));
            if (table[k].finish)
                table[k].finish(1.0, 2.0);
        }
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
