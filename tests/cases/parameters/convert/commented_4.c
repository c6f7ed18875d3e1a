/* Comments after the commas, so that they stand before the next parameter. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void fill(double b[], int n, int rank);
void exchange(double out[], double in[], int n, int to, int from);

int main(int argc, char **argv)
{
    int rank, size, n = 500;
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *out = malloc(n * sizeof(double)), *in = malloc(n * sizeof(double));
    fill(out, n, rank);
    exchange(out, in, n, (rank + 1) % size, (rank + size - 1) % size);
    for (int i = 0; i < n; i++)
        total += in[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}

void fill(
      double b[], /* the numbers */
      int n,  /* how many */
      int rank) { /* whose */
    for (int i = 0; i < n; i++)
        b[i] = i * 0.5 + rank;
}

void exchange(
      double out[], /* goes */
      double in[], /* comes */
      int n,  /* how many */
      int to, /* right */
      int from /* left */) {
    MPI_Sendrecv(out, n, MPI_DOUBLE, to, 0, in, n, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(out) take(in)
}
