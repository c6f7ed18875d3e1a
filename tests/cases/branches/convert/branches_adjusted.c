#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* As branches_exchange.c; the size of a message is adjusted case by case. */

#define MOST 64

static int nx, ny, nz, ipt, jpt, ist, iend, jst, jend;
static int north, south, east, west;
static int verbose, timing, check, refine, fast;
static double u[MOST][MOST], out[2 * MOST * MOST], in[2 * MOST * MOST];
static double total, spent, worst;

static void divide(int rank, int px, int py, int n)
{
    int row = rank % px, col = rank / px, m = n % px;
    if (row < m) { nx = n / px + 1; ipt = row * nx; } else { nx = n / px; ipt = row * nx + m; }
    m = n % py;
    if (col < m) { ny = n / py + 1; jpt = col * ny; } else { ny = n / py; jpt = col * ny + m; }
    nz = 3;
    north = row > 0 ? rank - 1 : -9;
    south = row < px - 1 ? rank + 1 : -9;
    west = col > 0 ? rank - px : -9;
    east = col < py - 1 ? rank + px : -9;
    ist = 1; iend = nx; if (north == -9) ist = 2; if (south == -9) iend = nx - 1;
    jst = 1; jend = ny; if (west == -9) jst = 2; if (east == -9) jend = ny - 1;
    if (nx > MOST / 2 || ny > MOST / 2) MPI_Abort(MPI_COMM_WORLD, 1);
    if (nx < 2 || ny < 2) MPI_Abort(MPI_COMM_WORLD, 2);
}

static int i, j, k, l, count, low, high; /* Fortran's habit: what a function works with outlives it */

static void pass(int way, int from, int to, int tag)
{
    static MPI_Request request;
    static int more;
    count = way == 0 ? ny : nx;
    if (refine > 1) more = 2; else more = 1;
    if (fast) more = more + 1;
    if (way == 0 && check) more = more + count / 2; else more = more + 3;
    if (from != -9)
        MPI_Irecv(in, count + more, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &request); //~ take(in)
    if (to != -9) {
        for (j = 0; j < count; j++)
            out[j] = way == 0 ? u[nx][j] : u[j][ny];
        for (j = 0; j < more; j++)
            out[count + j] = j;
        MPI_Send(out, count + more, MPI_DOUBLE, to, tag, MPI_COMM_WORLD); //~ give(out)
    }
    if (from != -9) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (j = 0; j < count + more; j++)
            total += in[j];
    }
}

static void exchange(int way)
{
    if (way == 0) {
        pass(0, north, south, 1);
        pass(0, south, north, 2);
    } else {
        pass(1, west, east, 3);
        pass(1, east, west, 4);
    }
}

static void relax(int step)
{
    double t = 0;
    if (timing) t = MPI_Wtime();
    low = fast ? ist : 1;
    high = fast ? iend : nx;
    for (i = low; i <= high; i++)
        for (j = jst; j <= jend; j++) {
            double d = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) - u[i][j];
            if (d > worst) worst = d;
            u[i][j] += d;
        }
    if (verbose && step % 5 == 0) total += 1;
    if (refine > 1 && nx > 4) total += ipt;
    if (timing) spent += MPI_Wtime() - t;
}

int main(int argc, char **argv)
{
    static int step;
    int rank, size, n, steps;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = argc > 1 ? atoi(argv[1]) : 24;
    steps = argc > 2 ? atoi(argv[2]) : 4;
    verbose = argc > 3; timing = argc > 4; check = argc > 5; refine = argc > 6 ? atoi(argv[6]) : 1; fast = argc > 7;
    divide(rank, size % 2 ? 1 : 2, size % 2 ? size : size / 2, n);
    for (i = 0; i < MOST; i++)
        for (j = 0; j < MOST; j++)
            u[i][j] = i * 7 % 13 + j * 5 % 11 + rank;
    exchange(0);
    exchange(1);
    for (step = 0; step < steps; step++) {
        if (check && step == 2) total += jpt;
        relax(step);
        if (timing && verbose) spent += 1;
        exchange(0);
        if (fast) total += 1;
        if (step % 2 || check) exchange(1);
        for (k = 0; k < nz; k++) {
            relax(k);
            if (refine == k) exchange(0);
            exchange(1);
        }
        for (l = 0; l < nz; l++) {
            if (l > refine) exchange(1);
            relax(l);
            exchange(0);
        }
        if (total > 1e6) total = 0;
    }
    printf("%d %g %g\n", rank, total, worst);
    MPI_Finalize();
    return 0;
}
