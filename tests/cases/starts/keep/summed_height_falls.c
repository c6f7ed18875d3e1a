/* The height of a cell gets negative in a later turn: what is counted is less than what the loops pack and read. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int cells, has_a[8], has_b[8], wide[8];
static int size_a, size_b, at_a, at_b;
static double u[8][40], got[8][40];
static double in[600], out[600];
static void measure(void)
{
    if (cells == 1)
        return;
    for (int c = 0; c < cells; c++) {
        if (has_a[c] != 0)
            size_a += (3 - c) * wide[c];
        if (has_b[c] != 0)
            size_b += (3 - c) * wide[c];
    }
    at_a = 1;
    at_b = at_a + size_a;
}

static void exchange(int peer)
{
    MPI_Request q[4];
    int p = 0, r = 0;
    for (int c = 0; c < cells; c++) {
        if (has_a[c] != 0)
            for (int i = 0; i < 3 - c; i++)
                for (int j = 0; j < wide[c]; j++) {
                    out[at_a + p - 1] = u[c][i * wide[c] + j];
                    p++;
                }
        if (has_b[c] != 0)
            for (int i = 0; i < 3 - c; i++)
                for (int j = 0; j < wide[c]; j++) {
                    out[at_b + r - 1] = u[c][i * wide[c] + j] + 1;
                    r++;
                }
    }
    MPI_Irecv(&in[at_a - 1], size_a, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q[0]); //~ keep
    MPI_Irecv(&in[at_b - 1], size_b, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &q[1]); //~ keep
    MPI_Isend(&out[at_a - 1], size_a, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q[2]); //~ keep
    MPI_Isend(&out[at_b - 1], size_b, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &q[3]); //~ keep
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    p = r = 0;
    for (int c = 0; c < cells; c++) {
        if (has_a[c] != 0)
            for (int i = 0; i < 3 - c; i++)
                for (int j = 0; j < wide[c]; j++) {
                    got[c][i * wide[c] + j] += in[at_a + p - 1];
                    p++;
                }
        if (has_b[c] != 0)
            for (int i = 0; i < 3 - c; i++)
                for (int j = 0; j < wide[c]; j++) {
                    got[c][i * wide[c] + j] += in[at_b + r - 1];
                    r++;
                }
    }
}

static void sweep(int peer, int m, int n)
{
    int p = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            out[p++] = u[i][j];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            out[p++] = got[i][j] + 2;
    MPI_Send(out, 2 * m * n, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD); //~ keep
}

static void swept(int peer, int m, int n)
{
    int p = 0;
    MPI_Recv(in, 2 * m * n, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            u[i][j] += 0.25 * in[p++];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            u[i][j] -= 0.125 * in[p++];
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = rank ^ 1;
    cells = argc + 4;
    for (int c = 0; c < cells; c++) {
        has_a[c] = c > 0;
        has_b[c] = c % 2;
        wide[c] = 5;
        for (int j = 0; j < 40; j++)
            u[c][j] = rank * 1000 + c * 40 + j;
    }
    measure();
    for (int step = 0; step < 3; step++) {
        if (peer < size) {
            exchange(peer);
            if (rank < peer)
                sweep(peer, cells, wide[0]);
            else
                swept(peer, cells, wide[0]);
        }
        for (int c = 0; c < cells; c++)
            for (int j = 0; j < 40; j++)
                u[c][j] += 0.5 * got[c][j];
    }
    double sum = 0;
    for (int c = 0; c < cells; c++)
        for (int j = 0; j < 40; j++)
            sum += u[c][j] * (c + j % 7 + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
