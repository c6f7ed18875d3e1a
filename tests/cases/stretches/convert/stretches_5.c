/* The places are members of a struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 16

struct partners {
    int messages, *first, *many;
};
static struct partners list;
static double *in, *out, field[MOST * 16], sum[MOST * 16];
static MPI_Request got[2 * MOST], sent[MOST];

static void setup(int rank, int extra)
{
    int at = 0;
    list.first = malloc((MOST + 1) * sizeof(int));
    list.many = malloc(MOST * sizeof(int));
    list.messages = 3 + extra;
    for (int i = 0; i < list.messages; i++) {
        list.first[i] = at;
        list.many[i] = 7 + i % 3;
        at += list.many[i];
    }
    list.first[list.messages] = at;
    in = malloc((at + 16) * sizeof *in);
    out = malloc((at + 16) * sizeof *out);
    for (int j = 0; j < at + 16; j++)
        in[j] = 0.25 * j;
    for (int j = 0; j < MOST * 16; j++)
        field[j] = rank * 100 + j;
}

static void exchange(int peer, int step)
{
    int which;
    for (int i = 0; i < list.messages; i++)
        MPI_Irecv(&in[list.first[i]], list.many[i], MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &got[i]); //~ take(in)
    for (int i = 0; i < list.messages; i++) {
        for (int j = 0; j < list.many[i]; j++)
            out[list.first[i] + j] = field[list.first[i] + j] + step;
        MPI_Isend(&out[list.first[i]], list.many[i], MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &sent[i]); //~ give(out)
    }
    for (int i = 0; i < list.messages; i++) {
        MPI_Waitany(list.messages, got, &which, MPI_STATUS_IGNORE);
        for (int j = 0; j < list.many[which]; j++)
            sum[list.first[which] + j] += in[list.first[which] + j];
    }
    MPI_Waitall(list.messages, sent, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    setup(rank, argc);
    for (int step = 0; step < 3; step++) {
        exchange((rank + 1) % size, step);
        field[step] += sum[step + 1];
    }
    double all = 0;
    for (int j = 0; j < MOST * 16; j++)
        all += sum[j] * (j + 1);
    printf("%d %.2f\n", rank, all);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
