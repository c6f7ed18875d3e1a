/* As grown_places_1.c, with brackets around the parts of an element's number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int partners, *partner, *first, *many, room;
static double *out, *in, *value;

static void grow(int at)
{
    if (at <= room)
        return;
    free(out);
    free(in);
    out = malloc(at * sizeof *out);
    in = malloc(at * sizeof *in);
    room = at;
}

static void setup(int rank, int size, int n)
{
    int at = 0;
    partners = 0;
    for (int r = 0; r < size; r++)
        if (r != rank) {
            partner[partners] = r;
            first[partners] = at;
            many[partners] = n - (r + rank) % 3;
            at += many[partners];
            partners++;
        }
    grow(at);
}

static void exchange(MPI_Request *got, MPI_Request *sent)
{
    for (int i = 0; i < partners; i++)
        MPI_Irecv(&in[first[i]], many[i], MPI_DOUBLE, partner[i], 5, MPI_COMM_WORLD, &got[i]); //~ take(in)
    for (int i = 0; i < partners; i++) {
        for (int j = 0; j < many[i]; j++)
            out[first[i] + j] = value[j] + 1;
        MPI_Isend(&out[first[i]], many[i], MPI_DOUBLE, partner[i], 5, MPI_COMM_WORLD, &sent[i]); //~ give(out)
    }
    for (int i = 0; i < partners; i++) {
        int which;
        MPI_Waitany(partners, got, &which, MPI_STATUS_IGNORE);
        for (int j = 0; j < many[which]; j++)
            value[j] += in[(first[which]) + (j)] * 0.5;
    }
    MPI_Waitall(partners, sent, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size, n = 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        n = atoi(argv[1]);
    partner = malloc(size * sizeof *partner);
    first = malloc(size * sizeof *first);
    many = malloc(size * sizeof *many);
    value = malloc((n + 9) * sizeof *value);
    MPI_Request *got = malloc(size * sizeof *got), *sent = malloc(size * sizeof *sent);
    for (int j = 0; j < n + 9; j++)
        value[j] = rank * 100 + j;
    room = 8;
    out = malloc(room * sizeof *out);
    in = malloc(room * sizeof *in);
    setup(rank, size, n);
    for (int step = 0; step < 3; step++) {
        if (step == 1)
            setup(rank, size, n + 9);
        exchange(got, sent);
    }
    double sum = 0;
    for (int j = 0; j < n + 9; j++)
        sum += value[j] * (j + 1);
    printf("%d %.3f\n", rank, sum);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
