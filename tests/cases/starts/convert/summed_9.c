/* The number of elements is the first one of an array, and a function runs between the loops and the messages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int cells, has_a[8], has_b[8], wide[8], tall[8];
static int size_a, size_b, at_a, at_b;
static double u[8][40], got[8][40];
static double in[600], out[600];
static void measure(void)
{
    if (cells == 1)
        return;
    for (int c = 0; c < cells; c++) {
        if (has_a[c] != 0)
            size_a += tall[c] * wide[c];
        if (has_b[c] != 0)
            size_b += tall[c] * wide[c];
    }
    at_a = 1;
    at_b = at_a + size_a;
}

static int calls;

static void count(void)
{
    calls++;
}

static void exchange(int peer)
{
    static int many[2];
    many[0] = size_a;
    many[1] = size_b;
    MPI_Request q[4];
    int p = 0, r = 0;
    for (int c = 0; c < cells; c++) {
        if (has_a[c] != 0)
            for (int i = 0; i < tall[c]; i++)
                for (int j = 0; j < wide[c]; j++) {
                    out[at_a + p - 1] = u[c][i * wide[c] + j];
                    p++;
                }
        if (has_b[c] != 0)
            for (int i = 0; i < tall[c]; i++)
                for (int j = 0; j < wide[c]; j++) {
                    out[at_b + r - 1] = u[c][i * wide[c] + j] + 1;
                    r++;
                }
    }
    count();
    MPI_Irecv(&in[at_a - 1], *many, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q[0]); //~ take(in)
    MPI_Irecv(&in[at_b - 1], many[1], MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &q[1]); //~ take(in)
    MPI_Isend(&out[at_a - 1], *many, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &q[2]); //~ give(out)
    MPI_Isend(&out[at_b - 1], many[1], MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &q[3]); //~ give(out)
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    p = r = 0;
    for (int c = 0; c < cells; c++) {
        if (has_a[c] != 0)
            for (int i = 0; i < tall[c]; i++)
                for (int j = 0; j < wide[c]; j++) {
                    got[c][i * wide[c] + j] += in[at_a + p - 1];
                    p++;
                }
        if (has_b[c] != 0)
            for (int i = 0; i < tall[c]; i++)
                for (int j = 0; j < wide[c]; j++) {
                    got[c][i * wide[c] + j] += in[at_b + r - 1];
                    r++;
                }
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = rank ^ 1;
    cells = argc + 6;
    for (int c = 0; c < cells; c++) {
        has_a[c] = c % 3 != 0;
        has_b[c] = c % 2;
        wide[c] = 5 + c % 3;
        tall[c] = 3 + c % 2;
        for (int j = 0; j < 40; j++)
            u[c][j] = rank * 1000 + c * 40 + j;
    }
    measure();
    for (int step = 0; step < 3; step++) {
        if (peer < size)
            exchange(peer);
        for (int c = 0; c < cells; c++)
            for (int j = 0; j < 40; j++)
                u[c][j] += 0.5 * got[c][j];
    }
    double sum = 0;
    for (int c = 0; c < cells; c++)
        for (int j = 0; j < 40; j++)
            sum += u[c][j] * (c + j % 7 + 1);
    printf("%d %.2f %d\n", rank, sum, calls);
    MPI_Finalize();
    return 0;
}
