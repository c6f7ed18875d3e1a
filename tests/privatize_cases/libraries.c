/* Variables and state of the C library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ; //~ environ: refused OPI513
static char text[] = "a b"; //~ text: private

int main(void) {
    srand(3);                            //~ note OPI511
    int n = rand() % 2;                  //~ note OPI511
    char *word = strtok(text, " ");      //~ note OPI511
    fprintf(stderr, "%s", "");
    return (environ == NULL) + (word[0] != 'a') + 0 * n;
}
