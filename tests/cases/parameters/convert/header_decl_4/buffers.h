#ifndef BUFFERS_H
#define BUFFERS_H

#include <mpi.h>

#define N 2048

typedef double block[N];

extern block sbuf;
extern block rbuf;

#endif
