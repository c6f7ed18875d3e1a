#ifndef HALO_H
#define HALO_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 90
#define HALO_SEND(p, to) MPI_Send((p), N, MPI_DOUBLE, to, 9, MPI_COMM_WORLD)
#define HALO_NEW() ((double *)calloc(N, sizeof(double)))
#define HALO_AT(p, i) ((p)[(i)])
extern double *edge;
void send_edge(int to);
#endif
