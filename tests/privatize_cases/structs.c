#include "ranks.h"

struct point {
    int x, y;
    char name[8];
};
static struct point origin = {.y = 3, .name = "origin"}; //~ origin: private
struct point *last;                                       //~ last: private

int main(void) {
    origin.x = my_rank();
    last = &origin;
    all_here();
    return last->x != my_rank() || last->y != 3 || last->name[5] != 'n';
}
