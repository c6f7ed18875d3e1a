/* The numbers of the messages have types of several names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 16

typedef int number;
typedef int place;

static number messages, first[MOST + 1], many[MOST + 1];
static double *in, *out, field[MOST * 16], sum[MOST * 16];
static MPI_Request got[2 * MOST], sent[MOST];

static void setup(int rank, int extra)
{
    int at = 0;
    messages = 3 + extra;
    for (int i = 0; i < messages; i++) {
        first[i] = at;
        many[i] = 7 + i % 3;
        at += many[i];
    }
    first[messages] = at;
    in = malloc((at + 16) * sizeof *in);
    out = malloc((at + 16) * sizeof *out);
    for (int j = 0; j < at + 16; j++)
        in[j] = 0.25 * j;
    for (int j = 0; j < MOST * 16; j++)
        field[j] = rank * 100 + j;
}

static void exchange(int peer, int step)
{
    place which;
    for (number i = 0; i < messages; i++)
        MPI_Irecv(&in[first[i]], many[i], MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &got[i]); //~ take(in)
    for (int i = 0; i < messages; i++) {
        for (int j = 0; j < many[i]; j++)
            out[first[i] + j] = field[first[i] + j] + step;
        MPI_Isend(&out[first[i]], many[i], MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &sent[i]); //~ give(out)
    }
    for (int i = 0; i < messages; i++) {
        MPI_Waitany(messages, got, &which, MPI_STATUS_IGNORE);
        for (int j = 0; j < many[which]; j++)
            sum[first[which] + j] += in[first[which] + j];
    }
    MPI_Waitall(messages, sent, MPI_STATUSES_IGNORE);
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
