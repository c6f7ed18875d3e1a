/* Blocks that are messages as a whole, named row by row by local tables that are made behind them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char **rows_of(int rows, int cols)
{
    char *data = (char *)malloc(rows * cols * sizeof(char));
    if (!data)
        return NULL;
    char **t = (char **)malloc(rows * sizeof(char *));

    for (int i = 0; i < rows; i++)
        t[i] = &(data[cols * i]);
    return t;
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 60 : 70, m = 40;
    long sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            char **out = rows_of(n, m);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    out[i][j] = (char)(i + 3 * j + step);
            MPI_Send(&out[0][0], n * m, MPI_CHAR, 1, 0, MPI_COMM_WORLD); //~ give(&out[0][0])
            free(out[0]);
            free(out);
        } else if (rank == 1) {
            char **in = rows_of(n, m);
            MPI_Recv(&in[0][0], n * m, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(&in[0][0])
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    sum += in[i][j] * (long)(i + j);
            free(in[0]);
            free(in);
        }
    }
    printf("%d: %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
