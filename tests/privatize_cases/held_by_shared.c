static int value;                                    //~ value: refused OPI507
int *const handle __attribute__((weak)) = &value; //~ handle: refused OPI506

int main(void) {
    value = 1;
    return *handle - 1;
}
