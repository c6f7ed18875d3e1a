/* Communication of a molecular dynamics code: borders are packed atom by atom through a function pointer, and sent to
   one neighbour after the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXATOMS 4000
#define PER_ATOM 4

struct atoms {
    int n, ghosts;
    double x[MAXATOMS][3];
    double q[MAXATOMS];
};

struct comm;
typedef int (*pack_fn)(struct comm *c, const struct atoms *a, double low, double high);

struct comm {
    int me, size, next, prev;
    pack_fn pack;
    struct {
        double *send;
        double *recv;
        int max;
    } buf;
    long sent;
};

static int pack_border(struct comm *c, const struct atoms *a, double low, double high)
{
    int n = 0;
    for (int i = 0; i < a->n; i++) {
        if (a->x[i][0] < low || a->x[i][0] >= high)
            continue;
        c->buf.send[n++] = a->x[i][0];
        c->buf.send[n++] = a->x[i][1];
        c->buf.send[n++] = a->x[i][2];
        c->buf.send[n++] = a->q[i];
    }
    return n;
}

static void comm_setup(struct comm *c, int max)
{
    memset(c, 0, sizeof *c);
    MPI_Comm_rank(MPI_COMM_WORLD, &c->me);
    MPI_Comm_size(MPI_COMM_WORLD, &c->size);
    c->next = (c->me + 1) % c->size;
    c->prev = (c->me + c->size - 1) % c->size;
    c->pack = pack_border;
    c->buf.max = max;
    c->buf.send = malloc(max * PER_ATOM * sizeof(double));
    c->buf.recv = malloc(max * PER_ATOM * sizeof(double));
    if (!c->buf.send || !c->buf.recv) {
        fprintf(stderr, "comm: no memory for %d atoms\n", max);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

static void comm_borders(struct comm *c, struct atoms *a, double low, double high)
{
    MPI_Request request;
    MPI_Status status;
    int count, n;

    MPI_Irecv(c->buf.recv, c->buf.max * PER_ATOM, MPI_DOUBLE, c->prev, 11, MPI_COMM_WORLD, &request);
    n = c->pack(c, a, low, high);
    MPI_Send(c->buf.send, n, MPI_DOUBLE, c->next, 11, MPI_COMM_WORLD); //~ give(c->buf.send)
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    a->ghosts = 0;
    for (int i = 0; i + PER_ATOM <= count; i += PER_ATOM) {
        int to = a->n + a->ghosts;
        a->x[to][0] = c->buf.recv[i];
        a->x[to][1] = c->buf.recv[i + 1];
        a->x[to][2] = c->buf.recv[i + 2];
        a->q[to] = c->buf.recv[i + 3];
        a->ghosts++;
    }
    c->sent += n;
}

static void comm_free(struct comm *c)
{
    free(c->buf.send);
    free(c->buf.recv);
}

static double energy(const struct atoms *a)
{
    double e = 0.0;
    for (int i = 0; i < a->n; i++)
        for (int j = a->n; j < a->n + a->ghosts; j++)
            e += a->q[i] * a->q[j] / (1.0 + a->x[i][0] * a->x[j][1]);
    return e;
}

static struct comm comm;
static struct atoms atoms;

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    comm_setup(&comm, 1000);
    atoms.n = 300;
    for (int i = 0; i < atoms.n; i++) {
        atoms.x[i][0] = (i * 37 % 100) * 0.01 + comm.me;
        atoms.x[i][1] = (i * 53 % 100) * 0.01;
        atoms.x[i][2] = (i * 71 % 100) * 0.01;
        atoms.q[i] = i % 2 ? 1.0 : -0.5;
    }
    for (int step = 0; step < 4; step++) {
        comm_borders(&comm, &atoms, comm.me, comm.me + 0.2 * (step + 1));
        printf("%d: step %d ghosts %d energy %.17g\n", comm.me, step, atoms.ghosts, energy(&atoms));
        for (int i = 0; i < atoms.n; i++)
            atoms.x[i][1] += 0.01 * step;
    }
    printf("%d: sent %ld\n", comm.me, comm.sent);
    comm_free(&comm);
    MPI_Finalize();
    return 0;
}
