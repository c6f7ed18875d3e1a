"""Function bodies before and after a conversion, for test_place.py; None: it is refused."""

from __future__ import annotations

CASES = {
    "the example of the design": (
        """\
static double sbuf[N], rbuf[N];
static void run(int peer, int n)
{
    MPI_Request rq[2];
    MPI_Irecv(rbuf, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[0]);
    for (int i = 0; i < n; i++)
        sbuf[i] = u[i];
    MPI_Isend(sbuf, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[1]);
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        v[i] = rbuf[i];
}
""",
        """\
static double *sbuf, *rbuf;
static void run(int peer, int n)
{
    MPI_Request rq[2];
    OPI_Itake(&rbuf, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[0]);
    OPI_Alloc(&sbuf, sizeof(double[N]));
    for (int i = 0; i < n; i++)
        sbuf[i] = u[i];
    OPI_Igive(&sbuf, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[1]);
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        v[i] = rbuf[i];
    OPI_Free(&rbuf);
}
""",
    ),
    "local arrays, early returns and a return that uses the buffer": (
        """\
static double run(int peer, int n)
{
    double sbuf[N], rbuf[N];
    for (int i = 0; i < N; i++)
        sbuf[i] = u[i];
    if (n == 3)
        return 1.0;
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(rbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return rbuf[0] + rbuf[1];
}
""",
        """\
static double run(int peer, int n)
{
    double *sbuf = NULL, *rbuf = NULL;
    OPI_Alloc(&sbuf, sizeof(double[N]));
    for (int i = 0; i < N; i++)
        sbuf[i] = u[i];
    if (n == 3) {
        OPI_Free(&sbuf);
        return 1.0;
    }
    OPI_Give(&sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    OPI_Take(&rbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double opi_result2 = rbuf[0] + rbuf[1];
    OPI_Free(&rbuf);
    return opi_result2;
}
""",
    ),
    "a local array of a loop, left by break and continue": (
        """\
static void run(int peer, int n)
{
    for (int k = 0; k < 10; k++) {
        double b[N];
        for (int i = 0; i < N; i++)
            b[i] = u[i] * k;
        if (k == n)
            break;
        if (k == peer)
            continue;
        MPI_Send(b, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
}
""",
        """\
static void run(int peer, int n)
{
    for (int k = 0; k < 10; k++) {
        double *b = NULL;
        OPI_Alloc(&b, sizeof(double[N]));
        for (int i = 0; i < N; i++)
            b[i] = u[i] * k;
        if (k == n) {
            OPI_Free(&b);
            break;
        }
        if (k == peer) {
            OPI_Free(&b);
            continue;
        }
        OPI_Give(&b, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
}
""",
    ),
    "a request array that was used before the buffer was declared": (
        """\
static void run(int peer, int n)
{
    MPI_Request rq[1] = {MPI_REQUEST_NULL};
    MPI_Waitall(1, rq, MPI_STATUSES_IGNORE);
    if (n > 1) {
        double r[N];
        MPI_Irecv(r, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &rq[0]);
        MPI_Waitall(1, rq, MPI_STATUSES_IGNORE);
    }
}
""",
        """\
static void run(int peer, int n)
{
    MPI_Request rq[1] = {MPI_REQUEST_NULL};
    MPI_Waitall(1, rq, MPI_STATUSES_IGNORE);
    if (n > 1) {
        double *r = NULL;
        OPI_Itake(&r, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &rq[0]);
        MPI_Waitall(1, rq, MPI_STATUSES_IGNORE);
        OPI_Free(&r);
    }
}
""",
    ),
    "one packing function called twice: the call moves to the caller": (
        """\
static double sbuf[N];
static void half(int h)
{
    for (int i = 0; i < N / 2; i++)
        sbuf[h * N / 2 + i] = u[i];
}
static void run(int peer, int n)
{
    half(0);
    half(n % 2);
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
""",
        """\
static double *sbuf;
static void half(int h)
{
    for (int i = 0; i < N / 2; i++)
        sbuf[h * N / 2 + i] = u[i];
}
static void run(int peer, int n)
{
    OPI_Alloc(&sbuf, sizeof(double[N]));
    half(0);
    half(n % 2);
    OPI_Give(&sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
""",
    ),
    "a buffer that is passed is released by its owner, not behind its back": (
        """\
static double one[N], two[N];
static void add(const double *p)
{
    for (int i = 0; i < N; i++)
        v[i] += p[i];
}
static void run(int peer, int n)
{
    MPI_Recv(one, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(two, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    add(one);
    add(two);
}
""",
        """\
static double *one, *two;
static void add(const double *p)
{
    for (int i = 0; i < N; i++)
        v[i] += p[i];
}
static void run(int peer, int n)
{
    OPI_Take(&one, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OPI_Take(&two, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    add(one);
    OPI_Free(&one);
    add(two);
    OPI_Free(&two);
}
""",
    ),
    "branches that disagree: the call moves in front of them": (
        """\
static double sbuf[N];
static void run(int peer, int n)
{
    if (n > 2)
        sbuf[0] = 1;
    for (int i = 1; i < N; i++)
        sbuf[i] = u[i];
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
""",
        """\
static double *sbuf;
static void run(int peer, int n)
{
    OPI_Alloc(&sbuf, sizeof(double[N]));
    if (n > 2)
        sbuf[0] = 1;
    for (int i = 1; i < N; i++)
        sbuf[i] = u[i];
    OPI_Give(&sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
""",
    ),
    "the same condition twice": (
        """\
static double sbuf[N], rbuf[N];
static void run(int rank, int n)
{
    if (rank == 0)
        for (int i = 0; i < N; i++)
            sbuf[i] = u[i];
    else
        MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    else
        v[0] = rbuf[0];
}
""",
        """\
static double *sbuf, *rbuf;
static void run(int rank, int n)
{
    if (rank == 0) {
        OPI_Alloc(&sbuf, sizeof(double[N]));
        for (int i = 0; i < N; i++)
            sbuf[i] = u[i];
    } else
        OPI_Take(&rbuf, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        OPI_Give(&sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    else {
        v[0] = rbuf[0];
        OPI_Free(&rbuf);
    }
}
""",
    ),
    "a guard where nothing else is right": (
        """\
static double sbuf[N];
static void run(int peer, int n)
{
    for (int t = 0; t < n; t++) {
        for (int i = 0; i < N; i++)
            sbuf[i] = u[i];
        if (u[t] > 0)
            MPI_Send(sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
}
""",
        """\
static double *sbuf;
static void run(int peer, int n)
{
    for (int t = 0; t < n; t++) {
        if (!sbuf)
            OPI_Alloc(&sbuf, sizeof(double[N]));
        for (int i = 0; i < N; i++)
            sbuf[i] = u[i];
        if (u[t] > 0)
            OPI_Give(&sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
}
""",
    ),
    "received and not always used: freed before the next receive": (
        """\
static double rbuf[N];
static void run(int peer, int n)
{
    for (int t = 0; t < n; t++)
        MPI_Recv(rbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
""",
        """\
static double *rbuf;
static void run(int peer, int n)
{
    for (int t = 0; t < n; t++) {
        OPI_Free(&rbuf);
        OPI_Take(&rbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
""",
    ),
    "malloc and free": (
        """\
static void run(int peer, int n)
{
    double *b = malloc(n * sizeof *b);
    for (int i = 0; i < n; i++)
        b[i] = u[i];
    MPI_Send(b, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    free(b);
    double *r = (double *)calloc(n + 1, sizeof(double));
    MPI_Recv(r, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (n > 4)
        v[0] = r[0];
    free(r);
}
""",
        """\
static void run(int peer, int n)
{
    double *b = NULL;
    OPI_Alloc(&b, n * sizeof *b);
    for (int i = 0; i < n; i++)
        b[i] = u[i];
    OPI_Give(&b, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    double *r = NULL;
    OPI_Take(&r, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (n > 4)
        v[0] = r[0];
    OPI_Free(&r);
}
""",
    ),
    "a size that must be kept": (
        """\
static double *sbuf;
static void setup(int n)
{
    sbuf = malloc(n * sizeof(double));
}
static void run(int peer, int n)
{
    setup(n);
    for (int i = 0; i < n; i++)
        sbuf[i] = u[i];
    MPI_Send(sbuf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    if (sbuf)
        free(sbuf);
}
""",
        """\
static double *sbuf;
static size_t sbuf_bytes;
static void setup(int n)
{
    sbuf = NULL;
    sbuf_bytes = n * sizeof(double);
}
static void run(int peer, int n)
{
    setup(n);
    OPI_Alloc(&sbuf, sbuf_bytes);
    for (int i = 0; i < n; i++)
        sbuf[i] = u[i];
    OPI_Give(&sbuf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
""",
    ),
    "a function that only allocates": (
        """\
static double *block(int n)
{
    double *p = malloc(n * sizeof *p);
    if (!p)
        exit(1);
    return p;
}
static void run(int peer, int n)
{
    double *keep = block(3), *b = block(2 * n);
    for (int i = 0; i < n; i++)
        b[i] = u[i] + keep[0];
    MPI_Send(b, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    free(b);
    free(keep);
}
""",
        """\
static double *block(int n)
{
    double *p = malloc(n * sizeof *p);
    if (!p)
        exit(1);
    return p;
}
static void run(int peer, int n)
{
    double *keep = block(3), *b = NULL;
    OPI_Alloc(&b, (2 * n) * sizeof(double));
    for (int i = 0; i < n; i++)
        b[i] = u[i] + keep[0];
    OPI_Give(&b, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    free(keep);
}
""",
    ),
    "rows in loops over all of them": (
        """\
static double sbuf[4][N], rbuf[4][N];
static void unpack(int d)
{
    for (int i = 0; i < N; i++)
        v[i] += rbuf[d][i];
}
static void run(int peer, int n)
{
    MPI_Request rq[8];
    for (int t = 0; t < n; t++) {
        for (int d = 0; d < 4; d++)
            MPI_Irecv(rbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[d]);
        for (int d = 0; d < 4; d++) {
            for (int i = 0; i < N; i++)
                sbuf[d][i] = u[i];
            MPI_Isend(sbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[4 + d]);
        }
        MPI_Waitall(8, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < 4; d++)
            if (u[d] > 0)
                unpack(d);
    }
}
""",
        """\
static double *sbuf[4], *rbuf[4];
static void unpack(int d)
{
    for (int i = 0; i < N; i++)
        v[i] += rbuf[d][i];
}
static void run(int peer, int n)
{
    MPI_Request rq[8];
    for (int t = 0; t < n; t++) {
        for (int d = 0; d < 4; d++)
            OPI_Itake(&rbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[d]);
        for (int d = 0; d < 4; d++) {
            OPI_Alloc(&sbuf[d], sizeof(double[N]));
            for (int i = 0; i < N; i++)
                sbuf[d][i] = u[i];
            OPI_Igive(&sbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[4 + d]);
        }
        MPI_Waitall(8, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < 4; d++) {
            if (u[d] > 0)
                unpack(d);
            OPI_Free(&rbuf[d]);
        }
    }
}
""",
    ),
    "rows that are sent in fewer turns than they are packed": (
        """\
static double sbuf[4][N];
static void run(int peer, int n)
{
    for (int t = 0; t < n; t++) {
        for (int d = 0; d < 4; d++)
            for (int i = 0; i < N; i++)
                sbuf[d][i] = u[i];
        for (int d = 1; d < 4; d++)
            MPI_Send(sbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD);
    }
}
""",
        None,
    ),
}
