/* A static table: rows beyond those of a round are still there, from an earlier round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double total;

static void receive(const int *many)
{
    for (int d = 0; d < 3; d++) {
        static double *rows[4];
        MPI_Request got[4];
        for (int i = 0; i < many[d]; i++) {
            if (!rows[i])
                rows[i] = malloc(9 * sizeof **rows);
            MPI_Irecv(rows[i], 9, MPI_DOUBLE, 0, d * 8 + i, MPI_COMM_WORLD, &got[i]); //~ keep
        }
        MPI_Waitall(many[d], got, MPI_STATUSES_IGNORE);
        for (int i = 0; i < many[0]; i++)
            total += rows[i][1];
    }
}

int main(int argc, char **argv)
{
    int rank, many[3] = {3, 1, 2};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        many[1] = atoi(argv[1]);
    if (rank == 0) {
        for (int d = 0; d < 3; d++)
            for (int i = 0; i < many[d]; i++) {
                double *b = malloc(9 * sizeof *b);
                for (int j = 0; j < 9; j++)
                    b[j] = d + 10 * i + j;
                MPI_Send(b, 9, MPI_DOUBLE, 1, d * 8 + i, MPI_COMM_WORLD); //~ give(b)
                free(b);
            }
    } else {
        receive(many);
    }
    printf("%d %.1f\n", rank, total);
    MPI_Finalize();
    return 0;
}
