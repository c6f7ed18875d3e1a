/* Nothing is evaluated here. */
#include "ranks.h"

static double v[6];                 //~ v: private
static char copy[sizeof v / 2];     //~ copy: private
enum { COUNT = sizeof v / sizeof *v };
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

int main(void) {
    __typeof__(v[0]) x = my_rank();
    char room[sizeof(v)];
    v[COUNT - 1] = x;
    copy[0] = (char)my_rank();
    all_here();
    return v[5] != my_rank() || LENGTH(v) != 6 || sizeof room != sizeof v || copy[0] != my_rank() || sizeof copy != 24;
}
