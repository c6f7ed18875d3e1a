/* Not const, and nothing writes them. */
#include "ranks.h"

static int table[4] = {1, 2, 3, 4};           //~ table: shared
static struct { double w[2]; int n; } rule = {{1, 2}, 2}; //~ rule: shared
static const char *text = "text";             //~ text: shared
int verbose;                                  //~ verbose: shared

int main(void) {
    int s = 0;
    for (int i = 0; i < rule.n; i++)
        s += table[i] * (int)rule.w[i];
    all_here();
    return s != 5 || verbose || text[0] != 't' || *table != 1;
}
