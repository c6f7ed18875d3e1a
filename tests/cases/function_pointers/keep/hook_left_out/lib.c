static double twice(double x)
{
    return 2.0 * x;
}

double (*hook)(double) = twice;
