#define ONCE(x) do { static int done; if (!done) { done = 1; x; } } while (0)

static int k; //~ k: private

int main(void) {
    ONCE(k++); //~ done: refused OPI501
    return k - 1;
}
