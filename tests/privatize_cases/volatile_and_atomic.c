#include "ranks.h"

static volatile int flag; //~ flag: private
static _Atomic int count; //~ tls count: private; struct count: refused OPI501

int main(void) {
    flag = my_rank();
    count = 1;
    all_here();
    return flag != my_rank() || count - 1;
}
