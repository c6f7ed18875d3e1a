/* Numbers of its own. */
#define abs(x) ((x) >= 0 ? (x) : -(x))
#undef RAND_MAX
#define RAND_MAX 7
