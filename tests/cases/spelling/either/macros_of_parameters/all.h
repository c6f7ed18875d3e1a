#include <mpi.h>
#include <stdio.h>

#define comm MPI_COMM_WORLD
#define tag 7
#define count 40
#define length count
#define size 2
#define dest (1 - rank)
#define source dest
#define status MPI_STATUS_IGNORE
#define bufp in
#define datatype MPI_DOUBLE
#define p 0.5
#define T double
