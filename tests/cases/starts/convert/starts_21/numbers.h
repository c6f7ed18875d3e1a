/* A number, unless the system has one. */
#ifndef RAND_MAX
#define RAND_MAX 7
#endif
#define abs(x) ((x) >= 0 ? (x) : -(x))
