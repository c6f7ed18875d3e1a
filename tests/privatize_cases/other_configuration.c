/* What is compiled elsewhere cannot be seen: only its declarations matter to tls. */
static int n; //~ tls n: private; struct n: refused OPI503

int main(void) {
#ifdef TRACE
    trace(n);
#endif
    n = 1;
    return n - 1;
}
