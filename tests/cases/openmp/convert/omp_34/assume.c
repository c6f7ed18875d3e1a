/* For compilers that have no such words. */
void __assume(int holds)
{
    (void)holds;
}

void __assume_aligned(const void *p, int bytes)
{
    (void)p;
    (void)bytes;
}
