/* The same, where the memory is handed out through a parameter. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void input(double **q, int n)
{
    (void)__func__; /* no other function has this text */
    double *p = malloc(n * sizeof(double));
    *q = p;
    for (int i = 0; i < n; i++)
        p[i] = 0.5 * i;
}

static void done(void)
{
    double *z;
    input(&z, 10);
    free(z);
}

int main(int argc, char **argv)
{
    int rank, n = 2048;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        n = atoi(argv[1]);
    atexit(done);
    double *a;
    if (rank == 0)
        input(&a, n);
    else
        a = malloc(n * sizeof(double));
    if (rank == 0)
        MPI_Send(a, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(a) OPI114
    else if (rank == 1)
        MPI_Recv(a, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(a) OPI215
    if (rank == 1)
        for (int i = 0; i < n; i++)
            total += a[i] * (i + 1);
    free(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
