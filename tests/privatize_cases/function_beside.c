/* No storage class fits both. */
int n, twice(int); //~ tls n: refused OPI501; struct n: refused OPI501

int twice(int k) {
    return 2 * k;
}

int main(void) {
    n = twice(0);
    return n;
}
