//~ analyse main.c
/* READ brings numbers of points, into an array of the COMMON block that holds the number of cells. */
#include <mpi.h>
#include <stdio.h>
#include "f2c.h"

extern integer s_rsle(cilist *), e_rsle(void);
extern integer do_lio(integer *, integer *, char *, ftnlen);
extern double d_int(double *), sqrt(double);

static integer c__1 = 1, c__3 = 3;
static cilist io___2 = {0, 5, 0, 0, 0};

struct {
    integer ncells, points[3], more;
} global_;

struct {
    double in[300], out[300];
} faces_;

static integer last, next;

static void make_set(integer rank, integer size)
{
    double d = sqrt((double)size * size + 1e-5);
    global_.ncells = (integer)d_int(&d);
    integer p = global_.ncells;
    last = (rank - 1 + p) % p;
    next = (rank + 1) % p;
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        s_rsle(&io___2);
        do_lio(&c__3, &c__1, (char *)&global_.points[0], (ftnlen)sizeof(integer));
        do_lio(&c__3, &c__1, (char *)&global_.points[1], (ftnlen)sizeof(integer));
        do_lio(&c__3, &c__1, (char *)&global_.points[2], (ftnlen)sizeof(integer));
        e_rsle();
    }
    MPI_Bcast(global_.points, 3, MPI_INT, 0, MPI_COMM_WORLD);
    make_set(rank, size);
    int n = global_.points[0] * 5;
    for (int t = 0; t < 3; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < n; i++)
            faces_.out[i] = i + t + rank;
        MPI_Irecv(faces_.in, n, MPI_DOUBLE, last, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        MPI_Isend(faces_.out, n, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int k = 0, i = 0; k < global_.points[0]; k++)
            for (int j = 0; j < 5; j++, i++)
                sum += faces_.in[i] * (k + 1);
    }
    printf("%d %d %g\n", rank, global_.points[2], sum);
    MPI_Finalize();
    return 0;
}
