static int tag = 50; //~ tls tag: private; struct tag: refused OPI503
#include "tagged.h"

int other(int k) {
    add(k);
    return tag;
}
