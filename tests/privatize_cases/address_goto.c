/* A jump may pass the place where it would be set. */
#include "ranks.h"

static int value; //~ tls value: refused OPI507; struct value: private

static int *get(int again) {
    static int *where = &value; //~ tls where: refused OPI504; struct where: private
    if (again)
        goto out;
    *where += 1;
out:
    return where;
}

int main(void) {
    return *get(0) - 1;
}
