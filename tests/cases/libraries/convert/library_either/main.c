//~ analyse main.c
/* Either list of output, one after a condition. */
#include <mpi.h>
#include <stdio.h>
#include "f2c.h"

extern integer s_wsle(cilist *), s_rsle(cilist *), e_wsle(void), e_rsle(void);
extern integer do_lio(integer *, integer *, char *, ftnlen);
extern double d_int(double *);

#define N 300

static integer c__1 = 1, c__3 = 3;
static cilist io___1 = {0, 6, 0, 0, 0}, io___2 = {0, 5, 0, 0, 0};
static integer last, next;
static double in[N], out[N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    last = 1 - rank;
    next = 1 - rank;
    if (argc > 1)
        s_wsle(&io___1);
    else
        s_wsle(&io___2);
    do_lio(&c__3, &c__1, (char *)&last, (ftnlen)sizeof(integer));
    if (argc < 3)
        do_lio(&c__3, &c__1, (char *)&next, (ftnlen)sizeof(integer));
    e_wsle();
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < N; i++)
            out[i] = i + t + rank;
        MPI_Irecv(in, N, MPI_DOUBLE, last, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        MPI_Isend(out, N, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            sum += in[i];
    }
    printf("%d %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
