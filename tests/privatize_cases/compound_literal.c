/* The unnamed array is one for all ranks. */
int *p = (int[]){1, 2, 3}; //~ p: refused OPI504

int main(void) {
    p[0]--;
    return p[0];
}
