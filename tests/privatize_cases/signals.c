#include <signal.h>

static volatile sig_atomic_t seen; //~ seen: refused OPI505
static int other;                  //~ other: private

static void handler(int number) {
    seen = number;
}

int main(void) {
    signal(SIGUSR1, handler); //~ note OPI512
    raise(SIGUSR1);           //~ note OPI512
    other = seen;
    return other != SIGUSR1;
}
