/* Rows times a matrix, by workers: the master reads what comes in rows into a static matrix, which the workers send. */
#include <mpi.h>
#include <stdio.h>

#define N 36

double a[N][N], b[N][N], c[N][N];

int main(int argc, char **argv)
{
    int rank, size, rows, offset, i, j, k;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rows = N / (size - 1);
    if (rank == 0) {
        for (i = 0; i < N; i++)
            for (j = 0; j < N; j++) {
                a[i][j] = i + j;
                b[i][j] = i * j;
            }
        for (k = 1; k < size; k++) {
            MPI_Send(&a[(k - 1) * rows][0], rows * N, MPI_DOUBLE, k, 1, MPI_COMM_WORLD); //~ keep OPI104
            MPI_Send(&b, N * N, MPI_DOUBLE, k, 1, MPI_COMM_WORLD); //~ keep OPI102
        }
        for (k = 1; k < size; k++)
            MPI_Recv(&c[(k - 1) * rows][0], rows * N, MPI_DOUBLE, k, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI204
        double s = 0;
        for (i = 0; i < N; i++)
            for (j = 0; j < N; j++)
                s += c[i][j] * (i + 1);
        printf("%.17g\n", s);
    } else {
        MPI_Recv(&a, rows * N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a)
        MPI_Recv(&b, N * N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (k = 0; k < N; k++)
            for (i = 0; i < rows; i++) {
                c[i][k] = 0.0;
                for (j = 0; j < N; j++)
                    c[i][k] = c[i][k] + a[i][j] * b[j][k];
            }
        MPI_Send(&c, rows * N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD); //~ give(c)
    }
    MPI_Finalize();
    return 0;
}
