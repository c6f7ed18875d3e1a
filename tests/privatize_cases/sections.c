static int slot __attribute__((section("mine"))); //~ slot: refused OPI506
int weak_one __attribute__((weak));               //~ weak_one: refused OPI506

int main(void) {
    slot = weak_one = 1;
    return slot - weak_one;
}
