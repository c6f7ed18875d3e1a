#include "halo.h"

void send_edge(int to)
{
    HALO_SEND(edge, to); //~ give(edge)
}
