#include <stdio.h>

extern double out[300];
extern int MAIN__(void);

int main(void)
{
    MAIN__();
    printf("%g\n", out[7]);
    return 0;
}
