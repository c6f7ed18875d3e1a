#include <stdlib.h>

static int used;  //~ used: private
static int other; //~ other: private

static void last(void) {
    used++;
}

static void harmless(void) {
}

int main(void) {
    atexit(last); //~ note OPI512; note OPI514
    atexit(harmless); //~ note OPI512
    used = other = 0;
    return used + other;
}
