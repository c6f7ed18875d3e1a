/* The same: an array that leaves its struct must not get it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 24
struct halo { double out[N], in[N]; };
static double u[2 * N];
static void put(const double *b, int n) { MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); }
static void get(void *b, int n) { MPI_Recv(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
#define COUNTER(x) static double halo_##x[2]
#define BUMP(x, n) (halo_##x[0] = (n), halo_##x[1] = t)
#define SHOW(x) printf("%g %g\n", halo_##x[0], halo_##x[1])
COUNTER(out);
COUNTER(in);
int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? atoi(argv[5]) : N;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++) u[i] = rank + 0.5 * i;

    {
    static struct halo halo;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            BUMP(in, n);
            for (int i = 0; i < n; i++) halo.out[i] = u[i] + t;
            put(halo.out, n);

        } else if (rank == 1) {
            get(halo.in, n);
            for (int i = 0; i < n; i++) u[i] += halo.in[i];
        }
    }
    }
    SHOW(out); SHOW(in);
    for (int i = 0; i < 2 * N; i++) total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
