//~ analyse main.c
/* READ brings two numbers in one item: the second one is the number of the neighbour. */
#include <mpi.h>
#include <stdio.h>
#include "f2c.h"

extern integer s_rsle(cilist *), e_rsle(void);
extern integer do_lio(integer *, integer *, char *, ftnlen);
extern double d_int(double *), sqrt(double);

static integer c__1 = 1, c__2 = 2, c__3 = 3;
static cilist io___2 = {0, 5, 0, 0, 0};

struct {
    integer ncells, points[3], from, more;
} global_;

struct {
    double in[300], out[300];
} faces_;

static integer next;

static void make_set(integer rank, integer size)
{
    double d = sqrt((double)size * size + 1e-5);
    global_.ncells = (integer)d_int(&d);
    integer p = global_.ncells;
    global_.from = (rank - 1 + p) % p;
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_set(rank, size);
    if (rank < 9) {
        s_rsle(&io___2);
        do_lio(&c__3, &c__1, (char *)&global_.points[0], (ftnlen)sizeof(integer));
        do_lio(&c__3, &c__1, (char *)&global_.points[1], (ftnlen)sizeof(integer));
        do_lio(&c__3, &c__2, (char *)&global_.points[2], (ftnlen)sizeof(integer));
        e_rsle();
    }
    MPI_Bcast(global_.points, 3, MPI_INT, 0, MPI_COMM_WORLD);
    next = global_.from;
    for (int t = 0; t < 3; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < 300; i++)
            faces_.out[i] = i + t + rank;
        MPI_Irecv(faces_.in, 300, MPI_DOUBLE, global_.from, 0, MPI_COMM_WORLD, &rq[0]); //~ replace(in) OPI203
        MPI_Isend(faces_.out, 300, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 300; i++)
            sum += faces_.in[i];
    }
    printf("%d %d %g\n", rank, global_.points[2] < 0, sum);
    MPI_Finalize();
    return 0;
}
