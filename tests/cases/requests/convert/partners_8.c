/* Two exchanges pack into one array: one sends from a place for each partner, one from the beginning. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int partners, *partner, *first, *many, *cell;
static double *out, *in, *value;

static void setup(int rank, int size, int n)
{
    partners = 0;
    partner = malloc(size * sizeof(int));
    first = malloc(size * sizeof(int));
    many = malloc(size * sizeof(int));
    cell = malloc(size * n * sizeof(int));
    value = malloc(n * sizeof(double));
    int at = 0;
    for (int r = 0; r < size; r++)
        if (r != rank) {
            partner[partners] = r;
            first[partners] = at;
            many[partners] = n - (r + rank) % 3;
            for (int j = 0; j < many[partners]; j++)
                cell[at + j] = (j * 7 + r + rank) % n;
            at += many[partners];
            partners++;
        }
    out = malloc(at * sizeof(double));
    in = malloc(at * sizeof(double));
    for (int j = 0; j < n; j++)
        value[j] = rank * 100 + j;
}

static void exchange(MPI_Request *got, MPI_Request *sent)
{
    for (int i = 0; i < partners; i++)
        MPI_Irecv(&in[first[i]], many[i], MPI_DOUBLE, partner[i], 5, MPI_COMM_WORLD, &got[i]);
    for (int i = 0; i < partners; i++) {
        for (int j = 0; j < many[i]; j++)
            out[first[i] + j] = value[cell[first[i] + j]] + 1;
        MPI_Isend(&out[first[i]], many[i], MPI_DOUBLE, partner[i], 5, MPI_COMM_WORLD, &sent[i]); //~ give(out)
    }
    for (int i = 0; i < partners; i++) {
        int which;
        MPI_Waitany(partners, got, &which, MPI_STATUS_IGNORE);
        for (int j = 0; j < many[which]; j++)
            value[cell[first[which] + j]] += in[first[which] + j] * 0.5;
    }
    MPI_Waitall(partners, sent, MPI_STATUSES_IGNORE);
}

static void spread(MPI_Request *got)
{
    for (int i = 0; i < partners; i++)
        MPI_Irecv(&in[first[i]], many[i], MPI_DOUBLE, partner[i], 7, MPI_COMM_WORLD, &got[i]);
    for (int i = 0; i < partners; i++) {
        for (int j = 0; j < many[i]; j++)
            out[j] = value[cell[first[i] + j]] * 2;
        MPI_Send(out, many[i], MPI_DOUBLE, partner[i], 7, MPI_COMM_WORLD); //~ give(out)
    }
    for (int i = 0; i < partners; i++) {
        int which;
        MPI_Waitany(partners, got, &which, MPI_STATUS_IGNORE);
        for (int j = 0; j < many[which]; j++)
            value[cell[first[which] + j]] += in[first[which] + j] * 0.5;
    }
}

int main(int argc, char **argv)
{
    int rank, size, n = 40;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        n = atoi(argv[1]);
    setup(rank, size, n);
    MPI_Request *got = malloc(size * sizeof *got), *sent = malloc(size * sizeof *sent);
    for (int step = 0; step < 3; step++)
        exchange(got, sent), spread(got);
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += value[j] * (j + 1);
    printf("%d %.3f\n", rank, sum);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
