void wire_shift(double *out, double *in, int n, int to, int from);
