/* Pointers to the ends of what is sorted, in an array whose length a probe tells. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2048

static void sort(double *first, double *last)
{
    double *i = first, *j = last, middle = *first;

    while (i <= j) {
        while (*i < middle)
            i++;
        while (*j > middle)
            j--;
        if (i <= j) {
            double t = *i;
            *i++ = *j;
            *j-- = t;
        }
    }
    if (first < j)
        sort(first, j);
    if (i < last)
        sort(i, last);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        double *all = malloc(N * sizeof *all);
        for (int step = 0; step < 3; step++) {
            for (int i = 0; i < N; i++)
                all[i] = (i * 37) % 1001 + step;
            MPI_Send(all, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(all)
            MPI_Recv(all, N, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(all)
            for (int i = 0; i < N; i++)
                total += all[i] * (i + 1);
        }
        free(all);
    } else if (rank == 1) {
        for (int step = 0; step < 3; step++) {
            int n;
            MPI_Status status;
            MPI_Probe(0, 7, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &n);
            double part[n];
            MPI_Recv(part, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(part)
            sort(part, part + n - 1);
            MPI_Send(part, n, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD); //~ give(part)
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
