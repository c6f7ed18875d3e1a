/* Nobody knows what else writes it. */
static volatile int flag; //~ flag: private

int main(void) {
    return flag;
}
