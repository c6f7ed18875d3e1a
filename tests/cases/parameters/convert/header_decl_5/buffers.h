#ifndef BUFFERS_H
#define BUFFERS_H

#include <mpi.h>

#define N 2048

extern double sbuf[];
extern double rbuf[];

#endif
