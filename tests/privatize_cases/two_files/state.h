#ifndef STATE_H
#define STATE_H

#define GRID 5
#define LAST (field[GRID - 1])

extern int steps;
extern double field[];
extern const int limits[3];
extern char name[8];
void advance(void);

static inline int current(void) {
    return steps;
}

#endif
