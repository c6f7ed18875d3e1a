#include "halo.h"
#include <stdio.h>

static double last[2];

void other(int rank)
{
    put(last, 2, rank);
}

static void put(double *buf, int n, int to)
{
    buf[n - 1] = to;
    printf("%g\n", last[1]);
}
//~ silent: the two declarations are one text
