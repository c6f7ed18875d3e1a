/* Values that are not those of the integers: comparisons of floating numbers, arithmetic that wraps, bytes of another value. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#define N 64
static int rank, peer;
static double sink[4096];
static double out;
static void show(const char *name) { printf("%s %.17g\n", name, out); fflush(stdout); out = 0; }
static void get(int n) { if (rank == 1) { memset(sink, 0, sizeof sink); MPI_Recv(sink, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
   for (int i = 0; i < n; i++) out += sink[i] * (i + 1); MPI_Recv(sink, n, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
   for (int i = 0; i < n; i++) out += sink[i] * (i + 3); } }

/* full pack, send; then partial (bug model) pack, send all */

static double b_nan_[N];
static void nan_(int n, int m, double x, double y)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b_nan_[i] = i + 1;
        MPI_Send(b_nan_, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        {
            if (x < y) { for (int i = 0; i < N; i++) b_nan_[i] = 2 * i; } if (x >= y) { for (int i = 0; i < N; i++) b_nan_[i] = 3 * i; }
        }
        MPI_Send(b_nan_, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else
        get(N);
    show("nan_");
}

static double b_fcast[N];
static void fcast(int n, int m, double x, double y)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b_fcast[i] = i + 1;
        MPI_Send(b_fcast, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        {
            int i1 = (int)x; int i2 = (int)y; if (x == y) { for (int i = 0; i < N; i++) b_fcast[i] = 2 * i; } if (i1 != i2) { for (int i = 0; i < N; i++) b_fcast[i] = 3 * i; }
        }
        MPI_Send(b_fcast, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else
        get(N);
    show("fcast");
}

static double b_lcg[N];
static void lcg(int n, int m, double x, double y)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b_lcg[i] = i + 1;
        MPI_Send(b_lcg, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        {
            unsigned s = 12345u; s = s * 1103515245u + 12345u; s = s * 1103515245u + 12345u; if (s % 7 == 4) { for (int i = 0; i < N; i++) b_lcg[i] = 2 * i; } if (s % 7 == 6) { for (int i = 0; i < N; i++) b_lcg[i] = 4 * i; }
        }
        MPI_Send(b_lcg, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else
        get(N);
    show("lcg");
}

static double b_uch2[N];
static void uch2(int n, int m, double x, double y)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b_uch2[i] = i + 1;
        MPI_Send(b_uch2, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        {
            unsigned char c = 200; for (int i = 0; i < 64; i++) { if (c >= 200) b_uch2[i] = i; c++; }
        }
        MPI_Send(b_uch2, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else
        get(N);
    show("uch2");
}

static double b_golden[N];
static void golden(int n, int m, double x, double y)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b_golden[i] = i + 1;
        MPI_Send(b_golden, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        {
            unsigned s = 0; for (int i = 0; i < N; i++) { if (s < 0x80000000u) { } else b_golden[i] = i; s += 0x9E3779B9u; } b_golden[0] = 1;
        }
        MPI_Send(b_golden, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else
        get(N);
    show("golden");
}

static double b_golden2[N];
static void golden2(int n, int m, double x, double y)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b_golden2[i] = i + 1;
        MPI_Send(b_golden2, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        {
            unsigned s = 0x80000000u; for (int i = 0; i < N; i++) { if (s >= 0x80000000u) { b_golden2[i] = i; } s += 0x9E3779B9u; }
        }
        MPI_Send(b_golden2, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else
        get(N);
    show("golden2");
}

static double b_union_[N];
static void union_(int n, int m, double x, double y)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b_union_[i] = i + 1;
        MPI_Send(b_union_, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        {
            union { int i; short s; } u; u.i = 70000; if (u.s == 70000) for (int i = 0; i < N; i++) b_union_[i] = 2 * i;
        }
        MPI_Send(b_union_, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else
        get(N);
    show("union_");
}

static double b_castp[N];
static void castp(int n, int m, double x, double y)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            b_castp[i] = i + 1;
        MPI_Send(b_castp, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        {
            int v = 70000; short *sp = (short *)&v; if (*sp == 70000) for (int i = 0; i < N; i++) b_castp[i] = 2 * i;
        }
        MPI_Send(b_castp, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else
        get(N);
    show("castp");
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); peer = 1 - rank;
  int n = argc > 1 ? atoi(argv[1]) : 5, m = argc > 2 ? atoi(argv[2]) : 3;
  double x = argc > 3 ? atof(argv[3]) : 2.5, y = argc > 4 ? atof(argv[4]) : 2.25;
  nan_(n, m, NAN + 0 * argc, y);
  fcast(n, m, 2.5 + 0 * argc, 2.25 + 0 * argc);
  lcg(n, m, x, y);
  uch2(n, m, x, y);
  golden(n, m, x, y);
  golden2(n, m, x, y);
  union_(n, m, x, y);
  castp(n, m, x, y);
  MPI_Finalize(); return 0; }
