/* Levels of a sort send halves away and get them back; the first level is given what was received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void merge(double *a, int half, int n)
{
    double *spare = malloc(n * sizeof *spare);
    int i = 0, j = half;

    for (int k = 0; k < n; k++)
        spare[k] = j == n || (i < half && a[i] <= a[j]) ? a[i++] : a[j++];
    for (int k = 0; k < n; k++)
        a[k] = spare[k];
    free(spare);
}

static void sort(double *a, int n, int rank, int size, int level)
{
    int helper = rank + (1 << level);

    if (helper >= size || n < 2) {
        qsort(a, n, sizeof *a, compare);
        return;
    }
    MPI_Send(a + n / 2, n - n / 2, MPI_DOUBLE, helper, 7, MPI_COMM_WORLD);
    sort(a, n / 2, rank, size, level + 1);
    MPI_Recv(a + n / 2, n - n / 2, MPI_DOUBLE, helper, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    merge(a, n / 2, n);
}

int main(int argc, char **argv)
{
    int rank, size, level = 0;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (1 << level <= rank)
        level++;
    if (rank == 0) {
        static double all[N];
        for (int i = 0; i < N; i++)
            all[i] = (i * 37) % 1001;
        sort(all, N, rank, size, level);
        for (int i = 0; i < N; i++)
            total += all[i] * (i + 1);
    } else {
        MPI_Status status;
        int n;
        MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &n);
        double *part = malloc(n * sizeof *part);
        MPI_Recv(part, n, MPI_DOUBLE, status.MPI_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(part)
        sort(part, n, rank, size, level);
        MPI_Send(part, n, MPI_DOUBLE, status.MPI_SOURCE, 8, MPI_COMM_WORLD); //~ give(part)
        free(part);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
