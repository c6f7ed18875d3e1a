#include "put.h"

void other(int turn)
{
    put(500, turn + 7);
}
//~ silent: the text is what forbids it
