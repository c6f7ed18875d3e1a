#include "buffers.h"

double sbuf[N];
double rbuf[N];

void pack(const double *u)
{
    for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
        sbuf[i] = 2.0 * u[i];
}

void unpack(double *v)
{
    for (int i = 0; i < N; i++)
        v[i] = rbuf[i];
}
