#include <stddef.h>

void *get(size_t bytes);
void report(int rank);
