/* A stand-in for Fortran's run-time library: the whole number that is next to a number, on the side of zero. */
#include <math.h>
#include "f2c.h"

double d_int(doublereal *x)
{
    return *x < 0 ? -floor(-*x) : floor(*x);
}
