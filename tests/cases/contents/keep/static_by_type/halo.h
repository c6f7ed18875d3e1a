/* A static function is declared by the name of its type. */
typedef void put_t(double *buf, int n, int to);
static put_t put;
