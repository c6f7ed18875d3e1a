extern double **out;
extern double u[];

void pack_second(int n)
{
    double *p = out[1];
    for (int i = 0; i < n; i++)
        *(p++) = u[n + i];
}
