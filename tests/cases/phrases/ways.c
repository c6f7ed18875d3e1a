/* Buffers of any origin, and every way into MPI: each function shows one. */
#include <alloca.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64
#define W MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static double field[N], total;
static int peer, rank;

static void pack(double *b, int n, double t)
{
    for (int i = 0; i < n; i++)
        b[i] = field[i] + t;
}

static void take_in(const double *b, int n)
{
    for (int i = 0; i < n; i++)
        total += b[i] * (i + 1);
}

/* probe, allocate, receive, MPI_Get_count */
static void probed(void)
{
    static double s[N];
    MPI_Status st;
    MPI_Request rq;
    int n;
    pack(s, N, 1);
    MPI_Isend(s, N, MPI_DOUBLE, peer, 1, W, &rq); //~ give(s)
    MPI_Probe(peer, 1, W, &st);
    MPI_Get_count(&st, MPI_DOUBLE, &n);
    double *r = malloc(n * sizeof(double));
    MPI_Recv(r, n, MPI_DOUBLE, peer, 1, W, IGNORE); //~ take(r)
    take_in(r, n);
    free(r);
    MPI_Wait(&rq, IGNORE);
}

/* realloc'ed */
static void grown(void)
{
    static double r[N];
    int room = 4, n = 0;
    double *s = malloc(room * sizeof(double));
    for (int i = 0; i < N; i++) {
        if (n == room) {
            room *= 2;
            s = realloc(s, room * sizeof(double));
        }
        s[n++] = field[i];
    }
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ keep(s) OPI402 take(r)
    take_in(r, n);
    free(s);
}

/* calloc, of which all is written */
static void zeroed(void)
{
    double *s = calloc(N, sizeof(double)), *r = calloc(N, sizeof(double));
    pack(s, N, 2);
    MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, N);
    free(s);
    free(r);
}

/* calloc, whose zeros are sent */
static void zeros(void)
{
    double *s = calloc(N, sizeof(double));
    static double r[N];
    pack(s, N / 2, 3);
    MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, N);
    free(s);
}

/* variable length array */
static void vla(int n)
{
    double s[n];
    static double r[N];
    pack(s, n, 4);
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, n);
}

/* alloca */
static void on_stack(int n)
{
    double *s = alloca(n * sizeof(double));
    static double r[N];
    pack(s, n, 5);
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ keep(s) OPI113 take(r)
    take_in(r, n);
}

/* conditional allocation */
static void conditional(int some)
{
    double *s = NULL, *r = NULL;
    if (some) {
        s = malloc(N * sizeof(double));
        r = malloc(N * sizeof(double));
    }
    if (some) {
        pack(s, N, 6);
        MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
        take_in(r, N);
    }
    free(s);
    free(r);
}

/* allocated anew where it is too small */
static void roomy(int t)
{
    static double *s, *r;
    static int room;
    int n = (t + 1) * (N / 2);
    if (n > room) {
        free(s);
        free(r);
        s = malloc(n * sizeof(double));
        r = malloc(n * sizeof(double));
        room = n;
    }
    pack(s, n, 8);
    MPI_Sendrecv(s, n, MPI_DOUBLE, peer, 1, r, n, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, n);
}

/* allocated where it is not there yet */
static void lazy(void)
{
    static double *s, *r;
    if (!s)
        s = malloc(N * sizeof(double));
    if (r == NULL)
        r = malloc(N * sizeof(double));
    pack(s, N, 9);
    MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, N);
}

/* early return */
static int returns_early(int some)
{
    double *s = malloc(N * sizeof(double)), *r = malloc(N * sizeof(double));
    pack(s, N, 7);
    if (!some) {
        free(s);
        free(r);
        return 0;
    }
    MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, N);
    free(s);
    free(r);
    return 1;
}

/* goto cleanup */
static int cleans_up(int some)
{
    int done = 0;
    double *s = malloc(N * sizeof(double)), *r = malloc(N * sizeof(double));
    if (!some)
        goto out;
    pack(s, N, 8);
    MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, N);
    done = 1;
out:
    free(s);
    free(r);
    return done;
}

/* the modes of sends */
static void modes(void)
{
    static double s[N], r[N], t[N], u[N];
    static char room[2 * N * sizeof(double) + 1000];
    MPI_Request rq[3];
    void *was;
    int size;
    MPI_Irecv(r, N, MPI_DOUBLE, peer, 1, W, &rq[0]); //~ take(r)
    MPI_Irecv(t, N, MPI_DOUBLE, peer, 2, W, &rq[1]); //~ take(t)
    MPI_Irecv(u, N, MPI_DOUBLE, peer, 3, W, &rq[2]); //~ take(u)
    MPI_Barrier(W);
    pack(s, N, 9);
    MPI_Ssend(s, N, MPI_DOUBLE, peer, 1, W); //~ give(s)
    MPI_Buffer_attach(room, sizeof room);
    pack(s, N, 10);
    MPI_Bsend(s, N, MPI_DOUBLE, peer, 2, W); //~ keep OPI107
    MPI_Buffer_detach(&was, &size);
    pack(s, N, 11);
    MPI_Rsend(s, N, MPI_DOUBLE, peer, 3, W); //~ give(s)
    MPI_Waitall(3, rq, MPI_STATUSES_IGNORE);
    take_in(r, N);
    take_in(t, N);
    take_in(u, N);
}

/* MPI_Sendrecv_replace */
static void replaced(void)
{
    static double b[N];
    pack(b, N, 12);
    MPI_Sendrecv_replace(b, N, MPI_DOUBLE, peer, 1, peer, 1, W, IGNORE); //~ give(b) take(b)
    take_in(b, N);
}

/* persistent requests */
static void persistent(void)
{
    static double s[N], r[N];
    MPI_Request rq[2];
    MPI_Send_init(s, N, MPI_DOUBLE, peer, 1, W, &rq[0]); //~ keep OPI107
    MPI_Recv_init(r, N, MPI_DOUBLE, peer, 1, W, &rq[1]); //~ keep OPI207
    pack(s, N, 13);
    MPI_Startall(2, rq);
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    take_in(r, N);
    MPI_Request_free(&rq[0]);
    MPI_Request_free(&rq[1]);
}

/* derived type without gaps */
static void derived(void)
{
    static double s[N], r[N];
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    pack(s, N, 14);
    MPI_Sendrecv(s, N / 2, pair, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, N);
    MPI_Type_free(&pair);
}

/* MPI_BOTTOM */
static void bottom(void)
{
    static double s[N], r[N];
    MPI_Datatype there;
    MPI_Aint at;
    int count = N;
    MPI_Get_address(s, &at);
    MPI_Type_create_hindexed(1, &count, &at, MPI_DOUBLE, &there);
    MPI_Type_commit(&there);
    pack(s, N, 15);
    MPI_Sendrecv(MPI_BOTTOM, 1, there, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ keep(MPI_BOTTOM) OPI402 take(r)
    take_in(r, N);
    MPI_Type_free(&there);
}

/* intercommunicator */
static void between(void)
{
    static double s[N], r[N];
    MPI_Comm mine, both;
    MPI_Comm_split(W, rank, 0, &mine);
    MPI_Intercomm_create(mine, 0, W, peer, 9, &both);
    pack(s, N, 16);
    MPI_Sendrecv(s, N, MPI_DOUBLE, 0, 1, r, N, MPI_DOUBLE, 0, 1, both, IGNORE); //~ give(s) take(r)
    take_in(r, N);
    MPI_Comm_free(&both);
    MPI_Comm_free(&mine);
}

/* MPI_IN_PLACE: a collective reads and writes the buffer, which stays whole for it */
static void in_place(void)
{
    static double s[N], r[N];
    pack(s, N, 17);
    MPI_Allreduce(MPI_IN_PLACE, s, N, MPI_DOUBLE, MPI_SUM, W);
    MPI_Sendrecv(s, N, MPI_DOUBLE, peer, 1, r, N, MPI_DOUBLE, peer, 1, W, IGNORE); //~ give(s) take(r)
    take_in(r, N);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int i = 0; i < N; i++)
        field[i] = rank + 0.25 * i;
    for (int t = 0; t < 2; t++) {
        probed();
        grown();
        zeroed();
        zeros();
        vla(N - argc);
        on_stack(N - argc);
        conditional(t);
        roomy(t);
        lazy();
        total += returns_early(t);
        total += cleans_up(t);
        modes();
        replaced();
        persistent();
        derived();
        bottom();
        between();
        in_place();
    }
    printf("%d %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
