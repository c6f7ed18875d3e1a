/* Transpose of a square complex matrix whose rows are spread over the ranks. */
#ifndef TRANSPOSE_H
#define TRANSPOSE_H

#include <complex.h>
#include <mpi.h>

#define MAXRANKS 1024

extern int rows[MAXRANKS];      /* how many rows each rank has */
extern int first_row[MAXRANKS]; /* and which is its first */

/* Spread n rows over the ranks of comm and allocate message buffers. */
void transpose_init(int n, MPI_Comm comm);
void transpose_finish(void);

/* b = transpose of a; both hold this rank's rows of n elements.  Adds the time
 * spent in packing, messages and unpacking to *seconds. */
void transpose(const double complex *a, double complex *b, double *seconds);

#endif
