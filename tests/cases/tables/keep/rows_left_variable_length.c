/* Some rows of a table are never set, and a round is left while others hold what came; an array of variable length
   takes no initialiser. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double total;
static int many[3] = {3, 1, 2};
static void __attribute__((noinline)) dirty(int v)
{
    volatile char s[4096];
    memset((void *)s, v, sizeof s);
}
static void __attribute__((noinline)) receive(void)
{
    for (int d = 0; d < 3; d++) {
        int n = many[d];
        double *rows[n + 2];
        MPI_Request got[5];
        for (int i = 0; i < n; i++) {
            rows[i] = malloc(9 * sizeof **rows);
            MPI_Irecv(rows[i], 9, MPI_DOUBLE, 0, d * 8 + i, MPI_COMM_WORLD, &got[i]); //~ keep
        }
        MPI_Waitall(n, got, MPI_STATUSES_IGNORE);
        if (d == 0) continue;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 9; j++)
                total += rows[i][j];
        for (int i = 0; i < n; i++)
            free(rows[i]);
    }
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        many[1] = atoi(argv[1]);
    if (rank == 0) {
        for (int d = 0; d < 3; d++)
            for (int i = 0; i < many[d]; i++) {
                double b[9];
                for (int j = 0; j < 9; j++)
                    b[j] = d + 10 * i + j;
                MPI_Send(b, 9, MPI_DOUBLE, 1, d * 8 + i, MPI_COMM_WORLD);
            }
    } else {
        dirty(17);
        receive();
    }
    printf("%d %.1f\n", rank, total);
    MPI_Finalize();
    return 0;
}
