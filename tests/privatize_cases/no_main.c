/* Others may use what is external. */
static int own; //~ own: private
int everybodys; //~ everybodys: refused OPI502

int library(int k) {
    own += k;
    everybodys = own;
    return own;
}
