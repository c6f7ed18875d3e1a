/* Particles in a standing wave on a ring, distributed over slabs of the ring. */
#ifndef PARTICLES_H
#define PARTICLES_H

typedef struct {
    double x;                   /* position, 0 <= x < 1 */
    double v;                   /* velocity */
    double e0;                  /* energy at the start */
    long long id;
} particle;

/* This rank's slab of the ring and its particles. */
typedef struct {
    int rank, size;
    int left, right;            /* neighbouring ranks on the ring */
    double lo, hi;              /* the slab: lo <= x < hi */
    particle *p;
    int n, room;                /* particles present and room for them */
} slab;

/* dynamics.c */
particle make_particle(long long id);
double energy(const particle *q);
void push(particle *q, double dt);
void push_all(slab *s, double dt);

/* migrate.c: send particles that left the slab to the neighbours. */
void migrate(slab *s);

/* main.c: print a message and end the program on all ranks. */
void fail(const char *message);

#endif
