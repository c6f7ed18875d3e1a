/* Workers of the region would find other copies. */
static int total;   //~ total: refused OPI505
static int outside; //~ outside: private
static int helped;  //~ helped: refused OPI505

static void help(void) {
    helped++;
}

static void work(void) { //~ note OPI515
#pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < 4; i++) {
        total += i;
        help();
    }
}

int main(void) {
    work();
    outside = 1;
    return total - 6 + outside - 1;
}
