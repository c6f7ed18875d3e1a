/* A function frees what it is given as a void *: another name of the block, or memory that something else allocates. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release(void *memory)
{
    free(memory);
}

static void discard(void *memory)
{
    free(memory);
}

static void drop(register void *memory)
{
    free(memory);
}

static double *join_a(double *a, int n, int more)
{
    double *all = malloc((n + more) * sizeof(double));
    memcpy(all, a, n * sizeof(double));
    for (int i = 0; i < more; i++)
        all[n + i] = i;
    return all;
}

static double *join_b(double *a, int n, int more)
{
    double *all = malloc((n + more) * sizeof(double));
    memcpy(all, a, n * sizeof(double));
    for (int i = 0; i < more; i++)
        all[n + i] = i;
    return all;
}

static double *join_c(double *a, int n, int more)
{
    double *all = malloc((n + more) * sizeof(double));
    memcpy(all, a, n * sizeof(double));
    for (int i = 0; i < more; i++)
        all[n + i] = i;
    return all;
}

int main(int argc, char **argv)
{
    int rank, n = 1000;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *a = malloc(n * sizeof(double));
    double *b = malloc(n * sizeof(double));
    double *c = malloc(n * sizeof(double));
    double *old;
    for (int i = 0; i < n; i++)
        a[i] = b[i] = c[i] = rank + i;
    old = join_a(a, n, 10);
    release(a);
    a = old;
    old = join_b(b, n, 20);
    discard(b);
    b = old;
    old = join_c(c, n, 30);
    drop(c);
    c = old;
    old = a;
    char *word = strdup("word");
    if (rank == 0) {
        MPI_Send(a, n + 10, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI114
        MPI_Send(b, n + 20, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD); //~ keep OPI114
        MPI_Send(c, n + 30, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD); //~ keep OPI114
    } else if (rank == 1) {
        static double in[1030];
        for (int k = 1; k <= 3; k++) {
            MPI_Recv(in, n + 10 * k, MPI_DOUBLE, 0, 6 + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n + 10 * k; i++)
                total += in[i] * (i + 1);
        }
    }
    release(old);
    discard(b);
    discard(word);
    drop(c);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
