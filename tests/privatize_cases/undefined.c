extern int elsewhere;         //~ elsewhere: refused OPI502
static int *at = &elsewhere;  //~ at: private

int main(void) {
    at = 0;
    return at ? elsewhere : 0;
}
