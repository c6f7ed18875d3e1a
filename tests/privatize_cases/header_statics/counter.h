/* Each file has its own. */
static int counter;          //~ counter: private
static int *where = &counter; //~ where: private

static inline void count(int k) {
    *where += k;
}

static inline int next(void) {
    static int n; //~ n: private
    return ++n;
}
