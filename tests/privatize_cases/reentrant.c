/* What needs no note. */
#include <stdlib.h>
#include <string.h>

static char text[] = "a b"; //~ text: private

int main(void) {
    unsigned seed = 3;
    char *rest;
    int n = rand_r(&seed);
    char *word = strtok_r(text, " ", &rest);
    return word[0] - 'a' + 0 * n;
}
