/* Cells chosen by remainders of three indices: more than integer sets can tell
 * within their budget.  Most cells are those of the turn before. */
#include <mpi.h>
#include <stdio.h>

#define N 4096

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = argc + 7, m = argc + 5, k = argc + 6;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
            if (turn == 0)
                for (int i = 0; i < N; i++)
                    sbuf[i] = u[i];
            for (int a = 0; a < n; a++)
                for (int b = 0; b < m; b++)
                    for (int c = 0; c < k; c++) {
                        if ((a * 3 + b * 2 + c) % 7 < 3 && (a + 1 * b) / 3 != c % 2)
                            sbuf[a * 200 + b * 20 + c * 2 + 0] = u[a] + turn;
                        if ((a * 5 + b * 3 + c) % 11 < 5 && (a + 2 * b) / 4 != c % 3)
                            sbuf[a * 201 + b * 23 + c * 3 + 1] = u[a] + turn;
                        if ((a * 7 + b * 4 + c) % 13 < 6 && (a + 3 * b) / 5 != c % 4)
                            sbuf[a * 202 + b * 26 + c * 4 + 2] = u[a] + turn;
                        if ((a * 11 + b * 5 + c) % 17 < 8 && (a + 4 * b) / 6 != c % 5)
                            sbuf[a * 203 + b * 29 + c * 5 + 3] = u[a] + turn;
                        if ((a * 2 + b * 6 + c) % 19 < 9 && (a + 5 * b) / 7 != c % 6)
                            sbuf[a * 204 + b * 32 + c * 6 + 4] = u[a] + turn;
                        if ((a * 9 + b * 7 + c) % 23 < 11 && (a + 6 * b) / 8 != c % 7)
                            sbuf[a * 205 + b * 35 + c * 7 + 5] = u[a] + turn;
                    }
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
