/* Molecular dynamics of a Lennard-Jones fluid in a periodic box: the box is cut
 * into bricks, one per rank, and every rank keeps copies ("ghosts") of the atoms
 * within reach of its brick. */
#ifndef MD_H
#define MD_H

#include <mpi.h>
#include <stddef.h>

#define CUTOFF 2.5              /* of the force */
#define SKIN   0.3              /* ghosts and lists reach that much further */
#define NSWAP  6                /* two directions in each of three dimensions */

typedef struct {
    double x[3], v[3];
    long id;
} atom_record;                  /* what travels when an atom changes its rank */

/* Own atoms come first, ghosts follow. */
typedef struct {
    int nlocal, nghost, room;
    double (*x)[3], (*v)[3], (*f)[3];
    long *id;
} atoms;

/* One swap: atoms of a list go to one neighbour, as many ghosts come from the opposite one. */
typedef struct {
    int to, from;               /* ranks */
    int dim, up;                /* along which dimension; up: from low to high */
    double shift;               /* added to the coordinate where the box ends */
    int nsend, nrecv;
    int first;                  /* index of the first ghost that comes */
    int *list;                  /* indices of the atoms that go */
    int room;                   /* of the list */
} swap;

typedef struct {
    MPI_Comm comm;
    int rank, size;
    int grid[3], place[3];      /* bricks along each dimension, and which one is ours */
    double box[3];              /* edges of the box */
    double lo[3], hi[3];        /* our brick */
    swap swaps[NSWAP];
} domain;

typedef struct {
    int n;                      /* pairs */
    int room;
    int (*pair)[2];             /* i < nlocal, j any, each pair once per rank */
} neighbours;

typedef struct {
    double kinetic, potential;
} energies;

/* comm.c */
void domain_setup(domain *d, MPI_Comm comm, const double box[3]);
void domain_end(domain *d);
void buffers_setup(int atoms_at_most);
void buffers_end(void);
void send_positions(const domain *d, atoms *a);
void collect_forces(const domain *d, atoms *a);
void make_borders(domain *d, atoms *a);
void move_atoms(domain *d, atoms *a);

/* force.c */
void make_list(const atoms *a, const domain *d, neighbours *l);
double forces(atoms *a, const neighbours *l);

/* main.c */
void *grown(void *p, int *room, int needed, size_t size);
void stop(const char *message);

#endif
