#ifndef BUFFERS_H
#define BUFFERS_H

#include <mpi.h>

#define N 2048
#define D 4

extern double sbuf[D][N], rbuf[D][N];
extern int nbr[D];

void pack(int d, const double *u);
void unpack(int d, double *v);

#endif
