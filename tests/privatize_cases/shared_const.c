#include "ranks.h"

static const double weights[] = {0.5, 0.25, 0.25}; //~ weights: shared
const char *const names[] = {"a", "b"};            //~ names: shared
static const struct { int n; const char *text; } info = {3, "three"}; //~ info: shared

int main(void) {
    all_here();
    return weights[0] + weights[1] + weights[2] != 1 || names[1][0] != 'b' || info.n != 3;
}
