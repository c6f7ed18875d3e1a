/* Two files read the header, and each has a static function of that name. */
static void put(double *buf, int n, int to);
void other(int rank);
