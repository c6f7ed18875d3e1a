/* What asks for memory is called only where another function, called first, says so. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int calls;

static int wanted(void)
{
    return calls++ == 0;
}

static int make(double **to, int n)
{
    double *memory = malloc(n * sizeof(double));
    if (!memory) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    *to = memory;
    return 0;
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    double sum = 0.0, *out = NULL, *in = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        if (wanted() && (make(&out, n) || make(&in, n)))
            exit(1);
        for (int i = 0; i < n; i++)
            out[i] = 0.5 * i * rank + t;
        MPI_Irecv(in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep
        MPI_Isend(out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            sum += in[i] * (i % 7);
    }
    printf("%d %.17g\n", rank, sum);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
