/* The function that hands out the memory looks at the environment, and a collective comes before the parts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *get(size_t bytes)
{
    const char *asked = getenv("GRID_ALIGNMENT");
    size_t alignment = asked != NULL ? (size_t)atoi(asked) : 64;
    void *p = NULL;

    if (posix_memalign(&p, alignment, bytes))
        p = NULL;
    return p;
}

int main(int argc, char **argv)
{
    int rank, n = 300, error = 0, all;
    double *out, *in, total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = get(2 * n * sizeof *out);
    if (out == NULL) {
        printf("no memory\n");
        error = 1;
    }
    MPI_Allreduce(&error, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (all) {
        MPI_Finalize();
        exit(1);
    }
    in = out + n;
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < n; i++)
            out[i] = rank + 0.5 * i + t;
        MPI_Irecv(in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        MPI_Isend(out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            total += in[i] * (i % 5);
    }
    printf("%d: %.17g\n", rank, total);
    free(out);
    MPI_Finalize();
    return 0;
}
//~ points 4
