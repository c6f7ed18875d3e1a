/* A merge sort with spare memory that goes along. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2048

static void merge(double *a, int half, int n, double *spare)
{
    int i = 0, j = half, k = 0;

    while (i < half && j < n)
        spare[k++] = a[i] <= a[j] ? a[i++] : a[j++];
    while (i < half)
        spare[k++] = a[i++];
    while (j < n)
        spare[k++] = a[j++];
    memcpy(a, spare, n * sizeof *a);
}

static void sort(double *a, int n, double *spare)
{
    if (n < 2)
        return;
    sort(a, n / 2, spare);
    sort(a + n / 2, n - n / 2, spare);
    merge(a, n / 2, n, spare);
}

static double all[N], back[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int step = 0; step < 3; step++) {
            for (int i = 0; i < N; i++)
                all[i] = (i * 37) % 1001 + step;
            MPI_Send(all, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(all)
            MPI_Recv(back, N, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(back)
            for (int i = 0; i < N; i++)
                total += back[i] * (i + 1);
        }
    } else if (rank == 1) {
        double *part = malloc(N * sizeof *part);
        double *spare = malloc(N * sizeof *spare);
        for (int step = 0; step < 3; step++) {
            MPI_Recv(part, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(part)
            sort(part, N, spare);
            MPI_Send(part, N, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD); //~ give(part)
        }
        free(part);
        free(spare);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
