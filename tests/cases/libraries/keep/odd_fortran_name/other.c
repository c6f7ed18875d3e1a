void s_copy(char *a, char *b, long la, long lb)
{
    static char *kept;
    for (long i = 0; i < lb && i < la; i++)
        a[i] = b[i];
    if (kept)
        kept[0]++;
    kept = a;
}
