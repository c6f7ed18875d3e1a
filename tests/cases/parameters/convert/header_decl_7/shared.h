/* The file that defines MAIN_FILE defines the variables; the others declare them. */
#ifdef MAIN_FILE
#define EXTERN
#else
#define EXTERN extern
#endif

#define N 2048
EXTERN double out[N], *in, u[N];
EXTERN long turns;

void pack(int step);
