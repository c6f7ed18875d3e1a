static void add(int k) {
    tag += k;
}
