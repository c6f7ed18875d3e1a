static const double *seen;

void watch(const double *p)
{
    seen = p;
}

double watched(int i)
{
    return seen[i];
}
