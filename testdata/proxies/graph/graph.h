/* Breadth-first search of a directed random graph whose vertices are dealt out
 * to the ranks in blocks. */
#ifndef GRAPH_H
#define GRAPH_H

#include <mpi.h>

#define DEGREE   16             /* edges that leave a vertex */
#define MAXRANKS 64

typedef struct {
    int rank, size;
    long n, block;              /* vertices in all, and per rank (the last may have fewer) */
    long first, count;          /* this rank's vertices */
    long *edge;                 /* DEGREE targets for each of them */
    int *level;                 /* distance from the root, -1 not reached */
    long *frontier, *next;      /* vertices of this level and of the next one */
    long nfrontier, nnext;
} graph;

/* edges.c: the target of edge k of vertex v, the same on every rank. */
long target_of(long n, long v, int k);

/* search.c */
void search(graph *g, long root);
void visit(graph *g, long vertex, int level);

/* outbox.c: vertices to visit are collected per rank and sent by the bufferful. */
void outbox_begin(graph *g, int level);
void outbox_put(graph *g, int rank, long vertex);
void outbox_end(graph *g);

#endif
