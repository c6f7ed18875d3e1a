/* Members of a struct, and a label for all that goes wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct pair {
    int n;
    double *s, *r;
};

static int setup(struct pair *p, int n)
{
    p->n = n;
    p->s = p->r = NULL;
    if (!(p->s = malloc((size_t)n * sizeof(double))))
        goto fail;
    if (!(p->r = malloc((size_t)n * sizeof(double))))
        goto fail;
    return 0;
fail:
    fprintf(stderr, "no memory\n");
    return 1;
}

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct pair p;
    if (setup(&p, n))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            p.s[i] = x + i;
        MPI_Sendrecv(p.s, n, MPI_DOUBLE, (rank + 1) % size, 0, p.r, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(p.s) take(p.r)
        for (int i = 0; i < n; i++)
            x += p.r[i] * 0.001;
    }
    printf("%d %.17g\n", rank, x);
    free(p.s);
    free(p.r);
    MPI_Finalize();
    return 0;
}
