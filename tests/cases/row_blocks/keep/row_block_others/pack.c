extern double **out;
extern double u[];

void pack_second(int n)
{
    double *other = out[0], *p;
    out[0] = out[1];
    out[1] = other;
    p = out[1];
    for (int i = 0; i < n; i++)
        *(p++) = u[n + i];
}
