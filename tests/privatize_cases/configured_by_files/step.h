/* One file leaves out what the other compiles: no #error can stand there, and what a macro swallows is not known. */
#define SWALLOW(x)
#ifdef COUNTS
static int count(void)
{
    SWALLOW(n);
    return n;
}
#endif
