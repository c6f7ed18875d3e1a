static int n(int k) {
    static int base = 1000; //~ base: private
    base += k;
    return base;
}

int third(int k) {
    return n(k);
}
