static const double *seen;

int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;

    if (!seen)
        seen = p;
    return (*p > *q) - (*p < *q);
}

double watched(int i)
{
    return seen[i];
}
