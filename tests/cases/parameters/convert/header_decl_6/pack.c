#include "buffers.h"

void pack(int d, const double *u)
{
    for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
        sbuf[d][i] = u[i] * (d + 1);
}

void unpack(int d, double *v)
{
    for (int i = 0; i < N; i++)
        v[i] += rbuf[d][i] * (d + 1);
}
