static int mine; //~ mine: refused OPI506
#pragma omp threadprivate(mine)

int main(void) {
    mine = 1;
    return mine - 1;
}
