static int started; //~ started: private

__attribute__((constructor)) static void start(void) { //~ note OPI514
    started = 1;
}

int main(void) {
    return started - 1;
}
