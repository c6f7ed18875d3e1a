void grow(int *n, int k);

void grow(int *n, int k)
{
    if (k > 0)
        *n = 2048;
}
