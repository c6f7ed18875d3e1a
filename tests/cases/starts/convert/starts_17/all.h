/* What all files have. */
#include "numbers.h"
#include <stdio.h>
