/* A function definition in the old style, buffers and loop in one line, tabs
 * and carriage returns in between. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static void ship(b, n)
	double *b;
	int n;
{
	MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) { int i; for (i = 0; i < N; i++) sbuf[i] = u[i]; ship(sbuf, N); }
    if (rank == 1) { int i;	MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); for (i = 0; i < N; i++)	v[i] = rbuf[i]; }
    if (rank == 1) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
