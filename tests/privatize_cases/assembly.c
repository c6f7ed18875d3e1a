static int counter; //~ counter: refused OPI506
static int operand; //~ operand: private

int main(void) {
    counter = 1;
    __asm__ volatile("# counter stays where it is" : "+m"(operand));
    operand = 0;
    return operand + counter - 1;
}
