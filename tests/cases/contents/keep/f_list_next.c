/* A record says whether another one follows: static memory says that none does. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

struct item {
    long val;
    void *next;
};

static struct item in[N];

int main(int argc, char **argv)
{
    int rank;
    long sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        int n = 8 + 9 * t;
        if (rank == 0) {
            struct item out[N];
            for (int i = 0; i < n; i++) {
                out[i].val = i * t;
                out[i].next = out;
            }
            MPI_Send(out, n * sizeof *out, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(in, sizeof in, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI210
            for (const struct item *p = in; p->next != NULL; p++)
                sum += p->val;
        }
    }
    printf("%d %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
