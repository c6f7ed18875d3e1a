void s_copy(char *a, char *b, long la, long lb)
{
    for (long i = 0; i < la; i++)
        a[i] = i < lb ? b[i] : ' ';
}
