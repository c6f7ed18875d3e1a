/* Diffusion of several species on blocks of cells in two sizes: where the
 * solution is steep, four fine blocks stand in the place of a coarse one.
 * Blocks are dealt out to the ranks along a curve, so that a rank's surface is
 * irregular: pieces of faces of many blocks, to few or many neighbours. */
#ifndef AMR_H
#define AMR_H

#include <mpi.h>
#include <stddef.h>

#define EDGE   16               /* cells along the edge of a block */
#define NVAR   8                /* species per cell, stored together */
#define NSIDE  4                /* sides of a block: low x, high x, low y, high y */
#define OTHER(side) ((side) ^ 1)

/* A square of EDGE * EDGE cells. */
typedef struct {
    int level;                  /* 0 coarse, 1 fine */
    int x, y;                   /* place, in blocks of its level */
    int owner;
    double *u, *next;           /* where we own it */
} block;

/* Half a side of a coarse block, or a whole side of a fine one, lies against a
 * block: one contact.  Both blocks have it, each from its own view. */
typedef struct {
    int block, other;
    int side;                   /* of `block` */
    int cells;                  /* of `block` along it */
    int first;                  /* the first of them */
    int fine, other_fine;       /* levels */
    double *ghost;              /* what lies beyond: the cells of `other` along the contact */
    int ghosts;                 /* how many these are */
} contact;

typedef struct {
    MPI_Comm comm;
    int rank, size;
    int roots;                  /* coarse blocks along the edge of the square domain */
    int nblock, ncontact;
    block *blocks;
    contact *contacts;          /* of own blocks, in an order that all ranks agree on */
    int *partner;               /* ranks that we exchange with */
    int npartner;
} mesh;

/* mesh.c */
void mesh_make(mesh *m, int roots);
void mesh_free(mesh *m);

/* exchange.c */
void exchange_setup(mesh *m);
void exchange_faces(mesh *m);
void exchange_end(const mesh *m);

/* main.c */
void *room(size_t count, size_t size);

#endif
