#ifndef HALO_H
#define HALO_H

typedef struct halo halo;
typedef void (*halo_packer)(double *to, const double *from, int n);

halo *halo_new(int n, int left, int right);
void halo_packing(halo *h, halo_packer pack);
void halo_run(halo *h, double *u);
void halo_delete(halo *h);

#endif
