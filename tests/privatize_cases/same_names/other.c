static int n = 100; //~ n: private

int other(void) {
    return ++n;
}
