#include "own.h"
#include <stdio.h>
#include <stdlib.h>

void *get(size_t bytes)
{
    return malloc(bytes);
}

void report(int rank)
{
    char *text = get(10);
    text = realloc(text, 100);
    snprintf(text, 100, "rank %d ends", rank);
    fprintf(stderr, "%s\n", text);
    free(text);
}
