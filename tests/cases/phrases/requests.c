/* Requests, and what a buffer may do besides: each function exchanges with the other rank in one way. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64
#define W MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

struct link {
    MPI_Request send, recv;
    int peer;
};

static double field[N], total;
static int peer, rank;

static void pack(double *b, double t)
{
    for (int i = 0; i < N; i++)
        b[i] = field[i] + t;
}

static void take_in(const double *b)
{
    for (int i = 0; i < N; i++)
        total += b[i] * (i + 1);
}

/* requests in an array */
static void in_array(void)
{
    static double s[N], r[N];
    MPI_Request rq[2];
    MPI_Irecv(r, N, MPI_DOUBLE, peer, 1, W, &rq[0]); //~ take(r)
    pack(s, 1);
    MPI_Isend(s, N, MPI_DOUBLE, peer, 1, W, &rq[1]); //~ give(s)
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    take_in(r);
}

/* requests in a struct */
static void in_struct(void)
{
    static double s[N], r[N];
    struct link l;
    l.peer = peer;
    MPI_Irecv(r, N, MPI_DOUBLE, l.peer, 1, W, &l.recv); //~ take(r)
    pack(s, 2);
    MPI_Isend(s, N, MPI_DOUBLE, l.peer, 1, W, &l.send); //~ give(s)
    MPI_Wait(&l.recv, IGNORE);
    take_in(r);
    MPI_Wait(&l.send, IGNORE);
}

/* request passed as a parameter */
static double by_parameter[N];

static void start(MPI_Request *rq)
{
    MPI_Irecv(by_parameter, N, MPI_DOUBLE, peer, 1, W, rq); //~ take(by_parameter)
}

static void finish(MPI_Request *rq)
{
    MPI_Wait(rq, IGNORE);
}

static void in_parameter(void)
{
    static double s[N];
    MPI_Request rq;
    start(&rq);
    pack(s, 3);
    MPI_Send(s, N, MPI_DOUBLE, peer, 1, W); //~ give(s)
    finish(&rq);
    take_in(by_parameter);
}

/* loop of MPI_Waitany */
static void waitany(void)
{
    static double s[2][N], r[2][N];
    MPI_Request rs[2], rr[2];
    for (int d = 0; d < 2; d++)
        MPI_Irecv(r[d], N, MPI_DOUBLE, peer, d, W, &rr[d]); //~ take(r)
    for (int d = 0; d < 2; d++) {
        pack(s[d], d);
        MPI_Isend(s[d], N, MPI_DOUBLE, peer, d, W, &rs[d]); //~ give(s)
    }
    for (int k = 0; k < 2; k++) {
        int d;
        MPI_Waitany(2, rr, &d, IGNORE);
        take_in(r[d]);
    }
    MPI_Waitall(2, rs, MPI_STATUSES_IGNORE);
}

/* loop of MPI_Waitsome */
static void waitsome(void)
{
    static double s[N], r[N];
    MPI_Request rq[2];
    MPI_Irecv(r, N, MPI_DOUBLE, peer, 1, W, &rq[0]); //~ take(r)
    pack(s, 4);
    MPI_Isend(s, N, MPI_DOUBLE, peer, 1, W, &rq[1]); //~ give(s)
    for (int left = 2; left > 0;) {
        int n, which[2];
        MPI_Waitsome(2, rq, &n, which, MPI_STATUSES_IGNORE);
        left -= n;
    }
    take_in(r);
}

/* loop of MPI_Test */
static void test_loop(void)
{
    static double s[N], r[N];
    MPI_Request rq;
    MPI_Irecv(r, N, MPI_DOUBLE, peer, 1, W, &rq); //~ take(r)
    pack(s, 5);
    MPI_Send(s, N, MPI_DOUBLE, peer, 1, W); //~ give(s)
    int done = 0;
    while (!done)
        MPI_Test(&rq, &done, IGNORE);
    take_in(r);
}

/* early-posted receives: the next one before the work on this one */
static void early(void)
{
    static double s[N], r[2][N];
    MPI_Request rq[2];
    MPI_Irecv(r[0], N, MPI_DOUBLE, peer, 1, W, &rq[0]); //~ keep OPI210
    for (int t = 0; t < 3; t++) {
        if (t < 2)
            MPI_Irecv(r[(t + 1) % 2], N, MPI_DOUBLE, peer, 1, W, &rq[(t + 1) % 2]); //~ keep OPI210
        pack(s, t);
        MPI_Send(s, N, MPI_DOUBLE, peer, 1, W); //~ give(s)
        MPI_Wait(&rq[t % 2], IGNORE);
        take_in(r[t % 2]);
    }
}

/* double buffering by index */
static void doubled(void)
{
    static double s[2][N], r[N];
    MPI_Request rq[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    for (int it = 0; it < 4; it++) {
        MPI_Wait(&rq[it & 1], IGNORE);
        pack(s[it & 1], it);
        MPI_Isend(s[it & 1], N, MPI_DOUBLE, peer, 1, W, &rq[it & 1]); //~ give(s)
        MPI_Recv(r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ take(r)
        take_in(r);
    }
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
}

/* packed, and on some path not sent */
static void not_sent(int some)
{
    static double s[N], r[N];
    pack(s, 6);
    if (some)
        MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    if (some)
        take_in(r);
}

/* one buffer used both ways */
static void both_ways(void)
{
    static double b[N];
    if (rank == 0) {
        pack(b, 7);
        MPI_Send(b, N, MPI_DOUBLE, 1, 1, W); //~ give(b)
        MPI_Recv(b, N, MPI_DOUBLE, 1, 2, W, IGNORE); //~ take(b)
    } else {
        MPI_Recv(b, N, MPI_DOUBLE, 0, 1, W, IGNORE); //~ take(b)
        take_in(b);
        pack(b, 8);
        MPI_Send(b, N, MPI_DOUBLE, 0, 2, W); //~ give(b)
    }
    if (rank == 0)
        take_in(b);
}

/* each site by itself: what is read again stays, the other converts */
static void per_site(void)
{
    static double s[N], r[N];
    MPI_Request rq[2];
    pack(s, 9);
    MPI_Irecv(r, N, MPI_DOUBLE, peer, 1, W, &rq[0]); //~ take(r)
    MPI_Send(s, N, MPI_DOUBLE, peer, 1, W); //~ keep(s) OPI101
    MPI_Wait(&rq[0], IGNORE);
    take_in(r);
    total += s[3];
    pack(s, 10);
    MPI_Irecv(r, N, MPI_DOUBLE, peer, 2, W, &rq[1]); //~ take(r)
    MPI_Send(s, N, MPI_DOUBLE, peer, 2, W); //~ give(s)
    MPI_Wait(&rq[1], IGNORE);
    take_in(r);
}

/* one buffer to several destinations: all sends but the last stay */
static void several(void)
{
    static double s[N], a[N], b[N];
    MPI_Request rq[2];
    pack(s, 11);
    MPI_Irecv(a, N, MPI_DOUBLE, peer, 1, W, &rq[0]); //~ take(a)
    MPI_Irecv(b, N, MPI_DOUBLE, peer, 2, W, &rq[1]); //~ take(b)
    MPI_Send(s, N, MPI_DOUBLE, peer, 1, W); //~ keep(s) OPI102
    MPI_Send(s, N, MPI_DOUBLE, peer, 2, W); //~ give(s)
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    take_in(a);
    take_in(b);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int i = 0; i < N; i++)
        field[i] = rank + 0.25 * i;
    for (int t = 0; t < 2; t++) {
        in_array();
        in_struct();
        in_parameter();
        waitany();
        waitsome();
        test_loop();
        early();
        doubled();
        not_sent(t);
        both_ways();
        per_site();
        several();
    }
    printf("%d %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
