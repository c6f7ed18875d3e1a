#include "ranks.h"
static int a; static int b = 1; int main(void) { static int c; a = b + my_rank(); b++; c = a; all_here(); return c != 1 + my_rank() || b != 2; } //~ a: private; b: private; c: private
