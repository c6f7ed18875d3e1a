extern double sbuf[500];

#ifdef TRACE
static inline double first(void)
{
    return sbuf[0];
}
#endif
