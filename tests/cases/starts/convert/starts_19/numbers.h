/* For all numbers. */
#define abs(x) ((x) >= 0 ? (x) : -(x))
#ifdef EXIT_FAILURE
#define SHIFT 1000
#else
#define SHIFT 1
#endif
