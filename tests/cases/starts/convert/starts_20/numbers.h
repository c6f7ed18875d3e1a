/* For all numbers. */
#define abs(x) ((x) >= 0 ? (x) : -(x))
#ifndef RAND_MAX
static int more(void)
{
    return 40;
}
#else
#define more() 4
#endif
