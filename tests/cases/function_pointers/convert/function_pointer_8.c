/* Two kinds of objects, each with a function that ends it: one of them calls the other's. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct halo {
    void (*destroy)(void *parts);
    int (*load)(const double *from, char *to);
    void *parts;
};
struct force {
    void (*destroy)(struct force **self);
    struct halo *halo;
};

static int load_all(const double *from, char *to)
{
    double *out = (double *)to;

    for (int i = 0; i < N; i++)
        out[i] = 2.0 * from[i];
    return N;
}

static int load_shifted(const double *from, char *to)
{
    double *out = (double *)to;

    for (int i = 0; i < N; i++)
        out[i] = from[i] + 1.0;
    return N;
}

static void destroy_parts(void *parts)
{
    *(int *)parts = 0;
}

static struct halo *new_halo(int shifted)
{
    struct halo *h = malloc(sizeof *h);

    h->destroy = destroy_parts;
    h->load = shifted ? load_shifted : load_all;
    h->parts = calloc(1, sizeof(int));
    return h;
}

static void destroy_halo(struct halo **h)
{
    (*h)->destroy((*h)->parts);
    free((*h)->parts);
    free(*h);
    *h = NULL;
}

static void destroy_force(struct force **self)
{
    destroy_halo(&(*self)->halo);
    free(*self);
    *self = NULL;
}

static void exchange(struct halo *h, int rank)
{
    char *out = malloc(N * sizeof(double));
    char *in = malloc(N * sizeof(double));
    double *got = (double *)in;
    int n = h->load(u, out);

    if (rank == 0) {
        MPI_Send(out, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int i = 0; i < N; i++)
            v[i] += got[i];
    }
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    struct force *f = malloc(sizeof *f);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    f->destroy = destroy_force;
    f->halo = new_halo(argc > 5);
    for (int step = 0; step < 3; step++)
        exchange(f->halo, rank);
    f->destroy(&f);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
