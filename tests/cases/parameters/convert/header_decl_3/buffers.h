#ifndef BUFFERS_H
#define BUFFERS_H

#include <mpi.h>

#define N 2048

extern double sbuf[N], rbuf[N];

void put(int to);
void get(int from);

#endif
