/* What malloc is asked for is computed by a function that counts its calls: it must go on counting them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int cnt;
static int bytes(int n) { cnt += 1; return n * 8; }
static double total;
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *b[2], *w;
    for (int d = 0; d < 2; d++)
        b[d] = malloc(bytes(500));
    w = malloc(argc > 1 ? bytes(600) : bytes(500) + cnt++);
    for (int t = 0; t < 3; t++) {
        MPI_Request q[2];
        for (int d = 0; d < 2; d++) MPI_Irecv(b[d], 500, MPI_DOUBLE, (rank + 1) % size, d, MPI_COMM_WORLD, &q[d]);
        for (int d = 0; d < 2; d++) { for (int i = 0; i < 500; i++) w[i] = rank + i * t + d; MPI_Send(w, 500, MPI_DOUBLE, (rank + size - 1) % size, d, MPI_COMM_WORLD); }
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int d = 0; d < 2; d++) for (int i = 0; i < 500; i++) total += b[d][i] * (d + 1);
    }
    for (int d = 0; d < 2; d++) free(b[d]);
    free(w);
    printf("%d %g %d\n", rank, total, cnt);
    MPI_Finalize();
    return 0;
}
