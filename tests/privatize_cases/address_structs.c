/* Nested structs, unions and designators; text and numbers beside the addresses. */
#include "ranks.h"

struct entry {
    const char *name;
    union {
        int *i;
        double *d;
    } at;
    struct {
        int kind : 4, size : 12;
        int **back;
    } more[2];
};
static int i = 1;    //~ i: private
static double d = 2; //~ d: private
static int *pi = &i; //~ pi: private
static struct entry entries[] = { //~ entries: private
    {.at.d = &d, .name = "d", .more = {{1, 2, 0}, {.back = &pi}}},
    {"i", {&i}, {[1] = {.size = 5}}},
};

int main(void) {
    *entries[0].at.d = my_rank();
    *entries[1].at.i = my_rank() + 1;
    **entries[0].more[1].back += 1;
    entries[1].more[0].kind = my_rank();
    all_here();
    return d != my_rank() || i != my_rank() + 2 || entries[0].name[0] != 'd' || entries[1].more[1].size != 5 ||
           entries[0].more[0].size != 2 || entries[1].more[0].kind != my_rank();
}
