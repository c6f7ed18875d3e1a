/* Memory has pointers, and a function copies words of it. */
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
typedef unsigned long __attribute__((may_alias)) word;
static void copy(void *to, const void *from, int n) { word *t = to; const word *f = from; for (int i = 0; i < n / 8; i++) t[i] = f[i]; }

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
                void *m = malloc(32), *m2 = malloc(32);
                T **a = m, **f = m2;
                *a = A;
                *f = O;
                copy(m2, m, 16);
                q = *f;
                free(m);
                free(m2);
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
