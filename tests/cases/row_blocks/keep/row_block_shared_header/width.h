#ifdef WITH_TABLE
static int width(void)
{
    return (int)sizeof(__typeof__(*out));
}
#endif
