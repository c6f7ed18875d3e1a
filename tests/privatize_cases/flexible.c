static int value; //~ tls value: refused OPI507; struct value: refused OPI507
static struct { int n; int *at[]; } list = {1, {&value}}; //~ tls list: refused OPI504; struct list: refused OPI501

int main(void) {
    *list.at[0] = 1;
    return value - 1;
}
