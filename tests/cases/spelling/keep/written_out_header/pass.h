#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 60

extern double *edge;

static void pass(void)
{
    SEND(edge); //~ keep OPI109
}
