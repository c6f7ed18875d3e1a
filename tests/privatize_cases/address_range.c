static int value; //~ tls value: private; struct value: refused OPI507
static int *all[4] = {[0 ... 2] = &value}; //~ tls all: private; struct all: refused OPI504

int main(void) {
    *all[2] = 1;
    all[3] = all[1];
    return *all[3] - 1;
}
