/* For all numbers. */
#ifndef NUMBERS_H
#define NUMBERS_H
#define abs(x) ((x) >= 0 ? (x) : -(x))
#define labs(x) abs(x)
#endif
