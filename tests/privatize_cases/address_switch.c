#include "ranks.h"

static int value; //~ tls value: refused OPI507; struct value: private

int main(void) {
    switch (my_rank()) {
        static int *where = &value; //~ tls where: refused OPI504; struct where: private
    case 7:
        return *where;
    default:
        *where = 0;
    }
    return value;
}
