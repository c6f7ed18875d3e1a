#include "buffers.h"

double sbuf[N], rbuf[N];
