extern int n;
#define COUNTS
#include "step.h"

int counted(void)
{
    return count();
}
