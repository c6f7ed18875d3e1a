/* Packing as it is written: each function packs one way and exchanges what it packed with the other rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 64
#define W MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

struct particle {
    double x, v;
    long id;
};

static double field[N * N], total;
static int peer, three, choice[N];

static void take_in(const double *b, int n)
{
    for (int i = 0; i < n; i++)
        total += b[i] * (i + 1);
}

/* append counter */
static void append(void)
{
    static double s[N], r[N];
    int n = 0, got;
    MPI_Status st;
    for (int i = 0; i < N; i++)
        if (choice[i])
            s[n++] = field[i];
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, &st); //~ give(s) take(r)
    MPI_Get_count(&st, MPI_DOUBLE, &got);
    take_in(r, got);
}

/* append counter of structs: fields, then the count */
static void append_fields(void)
{
    static struct particle s[N], r[N];
    int n = 0, got;
    MPI_Status st;
    for (int i = 0; i < N; i++)
        if (choice[i]) {
            s[n].x = field[i];
            s[n].v = field[i + 1];
            s[n].id = i;
            n++;
        }
    MPI_Sendrecv(s, n * (int)sizeof *s, MPI_BYTE, peer, 1, r, sizeof r, MPI_BYTE, peer, 1, W, &st); //~ give(s) take(r)
    MPI_Get_count(&st, MPI_BYTE, &got);
    for (int i = 0; i < got / (int)sizeof *r; i++)
        total += r[i].x + r[i].v * r[i].id;
}

/* cursor */
static void cursor(void)
{
    static double s[N], r[N];
    double *p = s;
    for (int i = 0; i < N; i++)
        *p++ = field[2 * i];
    MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, N);
}

static int pack_chosen(double *to)
{
    int n = 0;
    for (int i = 0; i < N; i++)
        if (choice[i])
            to[n++] = field[i] * 2;
    return n;
}

/* count returned */
static void count_returned(void)
{
    static double s[N], r[N];
    int n = pack_chosen(s);
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, n);
}

static void pack_counted(double *to, int *count)
{
    int n = 0;
    for (int i = 0; i < N; i++)
        if (choice[i])
            to[n++] = field[i] * 3;
    *count = n;
}

/* count stored through a pointer */
static void count_stored(void)
{
    static double s[N], r[N];
    int n;
    pack_counted(s, &n);
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, n);
}

/* byte cursor with memcpy */
static void bytes(void)
{
    static char s[2 * N * sizeof(double)], r[2 * N * sizeof(double)];
    size_t at = 0;
    for (int i = 0; i < N; i++) {
        memcpy(s + at, &field[i], sizeof(double));
        at += sizeof(double);
    }
    MPI_Sendrecv(s, at, MPI_BYTE, peer, 1, r, sizeof r, MPI_BYTE, peer, 1, W, IGNORE); //~ give(s) take(r)
    for (int i = 0; i < N; i++) {
        double x;
        memcpy(&x, r + i * sizeof x, sizeof x);
        total += x * i;
    }
}

/* struct fields */
static void fields(void)
{
    static struct particle s[N], r[N];
    for (int i = 0; i < N; i++) {
        s[i].x = field[i];
        s[i].v = -field[i];
        s[i].id = 2 * i;
    }
    MPI_Sendrecv(s, sizeof s, MPI_BYTE, peer, 1, r, sizeof r, MPI_BYTE, peer, 1, W, IGNORE); //~ give(s) take(r)
    for (int i = 0; i < N; i++)
        total += r[i].x * r[i].id + r[i].v;
}

/* triangular nest */
static void triangular(void)
{
    static double s[N * N], r[N * N];
    int n = 0;
    for (int i = 0; i < 20; i++)
        for (int j = 0; j <= i; j++)
            s[n++] = field[i * N + j];
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, N * N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, n);
}

/* strided nest */
static void strided(void)
{
    static double s[N * 3], r[N * 3];
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < N; i++)
            s[3 * i + c] = field[c * N + i];
    MPI_Sendrecv(s, 3 * N, MPI_DOUBLE, peer, 1, r, 3 * N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, 3 * N);
}

/* 2-D indexing written out */
static void flat2(int ny, int nx)
{
    static double s[N * N], r[N * N];
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            s[j * nx + i] = field[j * N + i];
    MPI_Sendrecv(s, ny * nx, MPI_DOUBLE, peer, 1, r, N * N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, ny * nx);
}

/* 3-D indexing written out */
static void flat3(int nz, int ny, int nx)
{
    static double s[N * N], r[N * N];
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                s[(k * ny + j) * nx + i] = field[k + j + i];
    MPI_Sendrecv(s, nz * ny * nx, MPI_DOUBLE, peer, 1, r, N * N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, nz * ny * nx);
}

static int pack_low(double *to, int n)
{
    for (int i = 0; i < N / 2; i++)
        to[n++] = field[i];
    return n;
}

static int pack_high(double *to, int n)
{
    for (int i = N / 2; i < N; i++)
        to[n++] = -field[i];
    return n;
}

/* pack split over several callees */
static void split(void)
{
    static double s[N], r[N];
    int n = pack_low(s, 0);
    n = pack_high(s, n);
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, n);
}

/* partial pack, and a send of just that */
static void partial(void)
{
    static double s[N], r[N];
    int n = 3 * three;
    for (int i = 0; i < n; i++)
        s[i] = field[i] + 1;
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, n, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, n);
}

/* count in bytes */
static void in_bytes(void)
{
    static double s[N], r[N];
    for (int i = 0; i < N; i++)
        s[i] = field[i] + 2;
    MPI_Sendrecv(s, N * sizeof(double), MPI_BYTE, peer, 1, r, sizeof r, MPI_BYTE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, N);
}

/* MPI_Pack and MPI_Unpack */
static void packed(void)
{
    static char s[N * sizeof(double)], r[N * sizeof(double)];
    double all[N];
    int at = 0;
    MPI_Pack(field, N, MPI_DOUBLE, s, sizeof s, &at, W);
    MPI_Sendrecv(s, at, MPI_PACKED, peer, 1, r, sizeof r, MPI_PACKED, peer, 1, W, IGNORE); //~ give(s) take(r)
    at = 0;
    MPI_Unpack(r, sizeof r, &at, all, N, MPI_DOUBLE, W);
    take_in(all, N);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    three = argc + 2;
    for (int i = 0; i < N * N; i++)
        field[i] = rank + 0.25 * i;
    for (int i = 0; i < N; i++)
        choice[i] = i % 3 != 1;
    for (int t = 0; t < 2; t++) {
        append();
        append_fields();
        cursor();
        count_returned();
        count_stored();
        bytes();
        fields();
        triangular();
        strided();
        flat2(three + 4, three + 7);
        flat3(three, three + 1, three + 2);
        split();
        partial();
        in_bytes();
        packed();
    }
    printf("%d %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
