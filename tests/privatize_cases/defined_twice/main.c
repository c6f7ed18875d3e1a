int n; //~ n: refused OPI502

int main(void) {
    return n++;
}
