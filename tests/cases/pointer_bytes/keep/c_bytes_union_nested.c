/* The halves of an address are members of an array in a struct in a union. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

struct state { double *b; int n; };
#define N 1500
typedef struct state T;
static double few[8];
static struct state mine, other;
#define A (&mine)
#define O (&other)
struct in { unsigned lo, hi; }; union both { T *p; struct { struct in i[1]; } h; };

int main(int argc, char **argv)
{
    int rank;
    double s = 0;
    double *in = malloc(N * sizeof(double));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine.n = N;
    mine.b = malloc(N * sizeof(double));
    other.n = 8;
    other.b = few;
    for (int k = 0; k < 3; k++) {
        if (rank == 0) {
            T *q = O;
            for (int i = 0; i < N; i++)
                mine.b[i] = i + k;
            MPI_Send(mine.b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(mine.b)
            {
                union both u, v;
                u.p = A;
                v.p = O;
                struct in g[1];
                g[0].lo = u.h.i[0].lo;
                g[0].hi = u.h.i[0].hi;
                v.h.i[0] = g[0];
                q = v.p;
            }
            s += q->b[3];
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                s += in[i];
        }
    }
    printf("%d: %.1f\n", rank, s);
    free(mine.b);
    free(in);
    MPI_Finalize();
    return 0;
}
