#include "state.h"

const int limits[3] = {1, 4, 9}; //~ limits: shared
char name[8] = "state";          //~ name: shared

void advance(void) {
    for (int i = 0; i < GRID; i++)
        field[i] = 2 * steps;
}
