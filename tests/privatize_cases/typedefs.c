#include "ranks.h"

typedef int row[3];
typedef struct node {
    struct node *next;
    int value;
} node;
static row r = {1, 2, 3}; //~ r: private
static node first;        //~ first: private

int main(void) {
    first.next = &first;
    first.next->value = r[2] + my_rank();
    r[0] = my_rank();
    all_here();
    return first.value != 3 + my_rank() || r[0] != my_rank();
}
