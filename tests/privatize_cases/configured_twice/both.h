#ifdef FIRST
static void set(int to)
{
    n = to;
#ifdef TRACE
    trace(n);
#endif
}
#else
static int get(void) { return n; }
#endif
