/* The halves of an address are a struct, which functions return and are given. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define N 1500
typedef int T;
static double buf[N], in[N];
static int count, other;
#define A (&count)
#define O (&other)
struct half { unsigned lo, hi; };
static struct half split(T *p) { union { T *p; struct half h; } u; u.p = p; return u.h; }
static T *join(struct half g) { union { T *p; struct half h; } u = { O }; u.h = g; return u.p; }

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        T *q = O;
        for (int i = 0; i < N; i++)
            buf[i] = i;
        MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(buf)
        count = N;
        {
                struct half h = split(A);
                struct half g = { h.lo, h.hi };
                q = join(g);
        }
        *q = 32; /* the count is 32 now: the second message has most of the first one */
        for (int i = 0; i < count; i++)
            buf[i] = -i;
        MPI_Send(buf, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ give(buf)
    } else if (rank == 1) {
        double s = 0;
        for (int m = 0; m < 2; m++) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, m, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                s += in[i];
        }
        printf("%d: %.1f\n", rank, s);
    }
    MPI_Finalize();
    return 0;
}
