#define N 600

struct edge {
    int n, peer;
    double out[N], in[N];
};

static struct edge side;
