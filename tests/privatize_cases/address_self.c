/* A ring that points to itself. */
#include "ranks.h"

struct ring {
    struct ring *next, *previous;
    int value;
};
static struct ring head = {&head, &head, 0};                   //~ head: private
static struct ring y;
static struct ring x = {.next = &y, .value = 1}, z = {&x, &y}; //~ x: private; z: private
static struct ring y = {&x, &z, 2};                            //~ y: private

int main(void) {
    head.next->value = my_rank();
    x.next->next->value += my_rank();
    all_here();
    return head.previous->value != my_rank() || x.value != 1 + my_rank() || z.previous->value != 2 ||
           y.previous != &z;
}
