#include "own.h"

double total(int turn)
{
    double sum = 0;
    pack(turn + 1);
    for (int i = 0; i < 500; i++)
        sum += sbuf[i];
    return sum;
}
//~ silent: the text is what forbids it
