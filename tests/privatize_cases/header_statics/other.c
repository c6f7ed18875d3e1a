#include "counter.h"

int other(int k) {
    next();
    count(k);
    return counter;
}
