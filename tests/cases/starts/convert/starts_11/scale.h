/* What the packing is scaled with: names like those that new blocks would get. */
static double scales[4] = {1, 3, 5, 7}, *out_part = scales;
static long in_part_at = 2;
#define SCALE out_part[1]
#define MORE in_part_at
