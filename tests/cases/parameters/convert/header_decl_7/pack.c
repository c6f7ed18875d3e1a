#include "shared.h"

void pack(int step)
{
    turns++;
    for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
        out[i] = u[i] + step;
}
