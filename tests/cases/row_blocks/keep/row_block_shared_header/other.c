#include "width.h"

int elsewhere(void)
{
    return (int)sizeof(void *);
}
