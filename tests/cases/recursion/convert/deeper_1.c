/* What was received is sorted by a function that calls itself, and sent back. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2048

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
        for (int step = 0; step < 3; step++) {
            MPI_Recv(part, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(part)
            sort(part, 0, N - 1);
            MPI_Send(part, N, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD); //~ give(part)
        }
        free(part);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
