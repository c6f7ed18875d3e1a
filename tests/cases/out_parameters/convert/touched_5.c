/* The loop over the memory that is touched first goes down. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    double *out, *in, *u;
} m;

static void make(double **p, int n)
{
    *p = malloc(n * sizeof(double));
    for (int i = n - 1; i >= 0; i--)
        (*p)[i] = 0.0;
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make(&m.out, n);
    make(&m.in, n);
    make(&m.u, n);
    for (int i = 0; i < n; i++)
        m.u[i] += rank + i;
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            m.out[i] = 2.0 * m.u[i] + t;
        MPI_Irecv(m.in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(m.in)
        MPI_Isend(m.out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ give(m.out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            m.u[i] += m.in[i];
    }
    for (int i = 0; i < n; i++)
        sum += m.u[i] * (i % 7);
    printf("%d %.17g\n", rank, sum);
    free(m.out);
    free(m.in);
    free(m.u);
    MPI_Finalize();
    return 0;
}
