#ifndef BUFFERS_H
#define BUFFERS_H

#include <mpi.h>

#define N 2048

extern double sbuf[N];
extern double rbuf[N];

void pack(const double *u);
void unpack(double *v);

#endif
