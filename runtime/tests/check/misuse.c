/* misuse.c MODE - does one thing wrong (or right) with a buffer that changes owners.  The lines that matter carry a mark in a comment, by which the test
 * knows what OPI_CHECK has to name.  Two ranks, except for `self`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opi.h"

#define N 3000

static int rank;
static volatile double sink;
static double *volatile kept; /* reachable until the end */

static double *make(int n) {
    double *b;
    OPI_Alloc(&b, (size_t)n * sizeof *b); /* mark: alloc */
    for (int i = 0; i < n; i++)
        b[i] = i + rank;
    return b;
}

static void receive(int n) {
    double *b;
    OPI_Take(&b, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (b[n - 1] != n - 1 + 1 - rank)
        MPI_Abort(MPI_COMM_WORLD, 9);
    OPI_Free(&b);
}

static void finish(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("misuse: ok\n");
}

/* ---- a buffer given, touched after it -------------------------------------------------------------------------------------------------------- */

static void given(int n, int nonblocking, int write) {
    MPI_Request q = MPI_REQUEST_NULL;
    if (rank == 1) {
        receive(n);
        return;
    }
    double *b = make(n), *old = b;
    if (nonblocking)
        OPI_Igive(&b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q); /* mark: igive */
    else
        OPI_Give(&b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); /* mark: give */
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (write)
        old[n / 2] = 1; /* mark: write */
    else
        sink = old[n / 2]; /* mark: read */
}

/* The receiver copies, or gives the buffer back: the giver's old pointer stays dead, the new one lives. */
static void back(void) {
    double *b = make(N);
    for (int i = 0; i < 50; i++) {
        if (rank == 0)
            OPI_Give(&b, N, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
        else
            OPI_Free(&b);
        if (rank == 1) {
            OPI_Take(&b, N, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            OPI_Give(&b, N, MPI_DOUBLE, 0, i, MPI_COMM_WORLD);
            b = make(N);
        } else {
            OPI_Take(&b, N, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int k = 0; k < N; k++) {
            if (b[k] != k + rank)
                MPI_Abort(MPI_COMM_WORLD, 9);
            b[k] = k + rank;
        }
    }
    OPI_Free(&b);
}

static void passed_to_send(void) {
    double *b = make(N), *old = b;
    if (rank == 1) {
        OPI_Free(&b);
        receive(N);
        return;
    }
    OPI_Give(&b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(old, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); /* mark: send */
}

/* ---- freeing ----------------------------------------------------------------------------------------------------------------------------------- */

static void twice(void) {
    double *b = make(N), *old = b;
    OPI_Free(&b);   /* mark: free */
    OPI_Free(&old); /* mark: again */
}

static void freed(void) {
    double *b = make(N), *old = b;
    OPI_Free(&b); /* mark: freed */
    sink = old[1]; /* mark: after */
}

static void foreign(void) {
    double *b = malloc(100);
    OPI_Free(&b); /* mark: foreign */
}

static void inside(void) {
    double *b = make(N), *in = b + 64;
    OPI_Free(&in); /* mark: inside */
    OPI_Free(&b);
}

static void give_given(void) {
    double *b = make(N), *old = b;
    if (rank == 1) {
        OPI_Free(&b);
        receive(N);
        return;
    }
    OPI_Give(&b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    OPI_Give(&old, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); /* mark: second */
}

/* ---- reading past what arrived ------------------------------------------------------------------------------------------------------------------ */

/* `got` doubles arrive where n are asked for.  What: 'r'ead what came, 'b'eyond, 'w'rite beyond and read that, 'g'ive it on, 's'end beyond. */
static void shorter(int got, int n, char what) {
    double *b;
    MPI_Request q;
    if (rank == 1) {
        double *m = make(got + 1);
        MPI_Send(m, got, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        OPI_Free(&m);
        if (what == 'g') {
            OPI_Take(&b, n, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < got; i++)
                if (b[i] != i + 1)
                    MPI_Abort(MPI_COMM_WORLD, 9);
            OPI_Free(&b);
        }
        return;
    }
    OPI_Itake(&b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q); /* mark: take */
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < got; i++)
        if (b[i] != i + 1)
            MPI_Abort(MPI_COMM_WORLD, 9);
    if (what == 'b')
        sink = b[got + 8]; /* mark: beyond */
    if (what == 's')
        MPI_Send(b, n, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); /* mark: all */
    if (what == 'w') {
        for (int i = got; i < n; i++)
            b[i] = i;
        for (int i = got; i < n; i++)
            if (b[i] != i)
                MPI_Abort(MPI_COMM_WORLD, 9);
    }
    if (what == 'g')
        OPI_Give(&b, got, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    else
        OPI_Free(&b);
}

/* ---- messages to oneself -------------------------------------------------------------------------------------------------------------------------- */

static void self(void) {
    double *b = make(N), *t, *old = b;
    MPI_Request q;
    for (int i = 0; i < 10; i++) {
        OPI_Igive(&b, N, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, &q); /* mark: self */
        OPI_Take(&t, N, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        sink = t[N - 1];
        b = t;
    }
    OPI_Igive(&b, N, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, &q);
    double *into = malloc(N * sizeof *into);
    MPI_Recv(into, N, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (into[5] != 5 + rank)
        MPI_Abort(MPI_COMM_WORLD, 9);
    free(into);
    (void)old;
}

static int run(const char *mode) {
#define MODE(name, call) else if (strcmp(mode, name) == 0) call
    if (rank < 0)
        return 1;
    MODE("read", given(N, 0, 0));
    MODE("write", given(N, 0, 1));
    MODE("igive", given(N, 1, 1));
    MODE("small", given(5, 0, 0));
    MODE("large", given(200000, 0, 1));
    MODE("back", back());
    MODE("send", passed_to_send());
    MODE("twice", twice());
    MODE("freed", freed());
    MODE("foreign", foreign());
    MODE("inside", inside());
    MODE("give-given", give_given());
    MODE("short", shorter(100, 1000, 'r'));
    MODE("short-beyond", shorter(100, 1000, 'b'));
    MODE("tiny-beyond", shorter(0, 10, 'b'));
    MODE("short-write", shorter(100, 3000, 'w'));
    MODE("short-give", shorter(100, 1000, 'g'));
    MODE("short-send", shorter(100, 1000, 's'));
    MODE("leak", (void)make(10));
    MODE("kept", kept = make(10));
    MODE("self", self());
    else return 2;
    return 0;
}

/* One mode, or several that are right. */
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    alarm(20); /* MPICH's mpiexec now and then leaves the others running where one aborts */
    for (int i = 1; i < argc; i++) {
        if (run(argv[i]) != 0)
            return 2;
        MPI_Barrier(MPI_COMM_WORLD); /* what the next one sends is not this one's */
    }
    finish();
    return 0;
}
