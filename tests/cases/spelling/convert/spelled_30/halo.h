/* Static functions are declared in a header that one file reads. */
#ifndef HALO_H
#define HALO_H

struct halo {
    int get, n;
};

static void put(double *buf, int n, int to);
static void get(double *buf, int n, int from);

#endif
