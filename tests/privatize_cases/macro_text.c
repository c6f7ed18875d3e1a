#include <stdio.h>

#define SHOW(x) snprintf(line, sizeof line, "%s=%d", #x, x)

static char line[40]; //~ tls line: private; struct line: private
static int steps;     //~ tls steps: private; struct steps: refused OPI503

int main(void) {
    steps++;
    SHOW(steps);
    return line[0] != 's';
}
