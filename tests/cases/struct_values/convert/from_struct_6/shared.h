#define N 24

struct halo {
    int n;
    double out[N], in[N];
};
extern struct halo halo;
void give(const double *u, int t);
void take(double *u);
