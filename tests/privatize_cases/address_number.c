/* An address as a number: struct cannot relocate it, tls computes it anew. */
#include "ranks.h"

static int value; //~ tls value: private; struct value: refused OPI507
static unsigned long number = (unsigned long)&value; //~ tls number: private; struct number: refused OPI504

int main(void) {
    *(int *)number = my_rank() * 0;
    all_here();
    return value;
}
