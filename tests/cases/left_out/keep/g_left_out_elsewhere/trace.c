#define TRACE
#include "show.h"

double traced(void)
{
    return first();
}
