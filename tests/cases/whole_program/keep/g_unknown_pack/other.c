void pack(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i += 2)
        to[i] = from[i];
}
