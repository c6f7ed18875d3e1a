#define GET(x) x##_value

static int a_value = 1; //~ tls a_value: private; struct a_value: refused OPI503

int main(void) {
    a_value--;
    return GET(a);
}
