#include "buffers.h"

block sbuf;
block rbuf;
