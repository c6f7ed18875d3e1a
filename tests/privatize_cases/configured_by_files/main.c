int n; //~ tls n: private; struct n: refused OPI503
#include "step.h"
int counted(void);

int main(void)
{
    n = 2;
    return counted() - n;
}
