//~ analyse main.c
/* The program is MAIN__, as f2c writes it: libf2c has the main, which calls it and ends. */
#include <mpi.h>
#include <stdio.h>
#include "f2c.h"

#define N 300

struct {
    doublereal u[N], out[N];
} fields_;
#define fields_1 fields_

doublereal in[N];

int exchange_(integer *to, integer *from)
{
    static integer i__;

    for (i__ = 1; i__ <= N; ++i__)
        fields_1.out[i__ - 1] = fields_1.u[i__ - 1];
    MPI_Send(fields_1.out, N, MPI_DOUBLE, *to, 0, MPI_COMM_WORLD); //~ give(fields_1.out)
    MPI_Recv(in, N, MPI_DOUBLE, *from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
    for (i__ = 1; i__ <= N; ++i__)
        fields_1.u[i__ - 1] += in[i__ - 1];
    return 0;
}

/* Main program */ int MAIN__(void)
{
    static integer me, n, i__, to, from;

    MPI_Init((int *)0, (char ***)0);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    to = (me + 1) % n;
    from = (me + n - 1) % n;
    for (i__ = 1; i__ <= 3; ++i__) {
        fields_1.u[0] += me;
        exchange_(&to, &from);
    }
    printf("%d %g\n", me, fields_1.u[0]);
    MPI_Finalize();
    return 0;
}

/* Main program alias */ int ring_(void)
{
    MAIN__();
    return 0;
}
