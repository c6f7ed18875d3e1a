/* A function allocates the memory, and fills it from a file. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *input(const char *name, int n)
{
    FILE *f = fopen(name, "r");
    double *p = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        p[i] = 0.5 * i;
    if (f) {
        if (fread(p, sizeof(double), n, f) != (size_t)n)
            printf("short\n");
        fclose(f);
    }
    return p;
}

int main(int argc, char **argv)
{
    int rank, n = 2048;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        n = atoi(argv[1]);
    double *a;
    if (rank == 0)
        a = input("data.bin", n);
    else
        a = malloc(n * sizeof(double));
    if (rank == 0)
        MPI_Send(a, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
    else if (rank == 1)
        MPI_Recv(a, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a)
    if (rank == 1)
        for (int i = 0; i < n; i++)
            total += a[i] * (i + 1);
    free(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
