/* Reads the same header. */
#include "exchange.h"

int other(int peer)
{
    lo = hi = peer;
    if (peer > 9) {
        put(peer);
        get(peer);
    }
    return lo;
}
