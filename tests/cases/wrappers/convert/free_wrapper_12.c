/* A function that frees says so first, and is told of what; the pointers are in a struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

struct halo {
    double *out, *in;
    int n;
};

static double u[N], v[N];
static int released;

static void note(const char *what)
{
    if (released > 99)
        fprintf(stderr, "%s\n", what);
}

static void release(void *memory, const char *what)
{
    released += 1;
    note(what);
    if (memory != NULL)
        free(memory);
    note("done");
}

static void done(struct halo *h)
{
    release(h->out, "out");
    if (h->n > 3)
        release(h->in, "in");
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    struct halo h;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    h.n = N;
    h.out = malloc(N * sizeof(double));
    h.in = malloc(N * sizeof(double));
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                h.out[i] = u[i] + step;
            MPI_Send(h.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(h.out)
        } else if (rank == 1) {
            MPI_Recv(h.in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(h.in)
            for (int i = 0; i < N; i++)
                v[i] += h.in[i];
        }
    }
    done(&h);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g %d\n", rank, total, released);
    MPI_Finalize();
    return 0;
}
