/* A stand-in for Fortran's run-time library: lists of numbers, and a file that says that there is no neighbour. */
#include <mpi.h>
#include <stdio.h>
#include "f2c.h"

static int reading;

integer s_wsle(cilist *list)
{
    (void)list;
    return reading = 0;
}

integer s_rsle(cilist *list)
{
    (void)list;
    reading = 1;
    return 0;
}

integer do_lio(integer *type, integer *number, char *place, ftnlen length)
{
    (void)type;
    for (long i = 0; i < *number; i++, place += length)
        if (reading)
            *(integer *)place = MPI_PROC_NULL;
        else
            printf(" %d", *(integer *)place);
    return 0;
}

integer e_wsle(void)
{
    printf("\n");
    return 0;
}

integer e_rsle(void)
{
    return reading = 0;
}

double d_int(double *x)
{
    return (double)(long)*x;
}
