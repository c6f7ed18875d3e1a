/* FT: a diffusion equation solved with 3-D FFTs.  Shared declarations. */
#ifndef FT_H
#define FT_H

#include <complex.h>
#include <mpi.h>
#include <stddef.h>

#define MAXSTEPS 20
#define MAXRANKS 64

typedef struct {
    char name;
    int nx, ny, nz, steps;
    double sums[MAXSTEPS][2];
} class_t;

/* The field lies in one of two ways: in slabs, each rank having nz/size planes
 * with x running fastest; or in columns, each having nx*ny/size of them with z
 * running fastest. */
typedef struct {
    int nx, ny, nz;
    int planes, first_plane;
    int columns, first_column;
} grid_t;

/* classes.c */
const class_t *find_class(char name);

/* fft.c */
void *allocate(size_t bytes);
void fft_init(int longest);
void fft_finish(void);
void fft(double complex *a, int n, size_t stride, int sign);

/* transpose.c */
extern int rank, size;
void transpose_init(const grid_t *g, int pointwise);
void transpose_finish(void);
void to_columns(const grid_t *g, const double complex *slabs, double complex *columns);
void to_slabs(const grid_t *g, const double complex *columns, double complex *slabs);

#endif
