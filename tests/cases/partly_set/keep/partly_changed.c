/* The bounds change after the paths meet, and the width does not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 400

static double u[MOST], v[MOST];

static void step(MPI_Comm comm, int me, double *buf, long first, long last, long width, int turn)
{
    if (comm != MPI_COMM_NULL) {
        if (me == 0) {
            int k = 0;
            for (long i = first; i <= last; i++)
                buf[k++] = u[i] + turn;
            MPI_Send(buf, width, MPI_DOUBLE, 1, 7, comm); //~ keep(buf) OPI102
        } else if (me == 1) {
            MPI_Recv(v, MOST, MPI_DOUBLE, 0, 7, comm, MPI_STATUS_IGNORE);
        }
    }
}

int main(int argc, char **argv)
{
    int rank, size, me = 0;
    long first, last, width, left, n = argc > 1 ? atol(argv[1]) : 100;
    double *buf, total = 0.0;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (n < 10 || n > MOST - 10) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < MOST; i++)
        u[i] = rank + 0.5 * i;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 1 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &me);
    buf = malloc(MOST * sizeof *buf);
    if (!buf) MPI_Abort(MPI_COMM_WORLD, 1);
    if (argc < 4) {
        left = n % 3;
        if (me < left) {
            first = me;
            last = first + n / 3;
        } else {
            first = left;
            last = first + n / 3 - 1;
        }
        width = last - first + 1;
    } else {
        first = 0;
        last = -1;
    }
    last--;
    for (int turn = 0; turn < 3; turn++)
        step(comm, me, buf, first, last, width, turn);
    free(buf);
    for (int i = 0; i < MOST; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
