/* The same, where the rows stand for messages at places of one buffer: each round has its partners, places, numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int partners[3], *partner[3], *first[3], *many[3];
static double *out, *in, *value;

static void setup(int rank, int size, int n)
{
    for (int d = 0; d < 3; d++) {
        int at = 0;
        partners[d] = 0;
        partner[d] = malloc(size * sizeof(int));
        first[d] = malloc(size * sizeof(int));
        many[d] = malloc(size * sizeof(int));
        for (int r = 0; r < size; r++)
            if (r != rank) {
                partner[d][partners[d]] = r;
                first[d][partners[d]] = at;
                many[d][partners[d]] = n - (r + rank + d) % 3;
                at += many[d][partners[d]];
                partners[d]++;
            }
    }
    value = malloc(n * sizeof *value);
    out = malloc(size * n * sizeof *out);
    in = malloc(size * n * sizeof *in);
    for (int j = 0; j < n; j++)
        value[j] = rank * 100 + j;
}

static void exchange(MPI_Request *got, MPI_Request *sent)
{
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < partners[d]; i++)
            MPI_Irecv(&in[first[d][i]], many[d][i], MPI_DOUBLE, partner[d][i], d, MPI_COMM_WORLD, &got[i]); //~ take(in)
        for (int i = 0; i < partners[d]; i++) {
            for (int j = 0; j < many[d][i]; j++)
                out[first[d][i] + j] = value[j] + d;
            int to = partner[d][i];
            MPI_Isend(&out[first[d][i]], many[d][i], MPI_DOUBLE, to, d, MPI_COMM_WORLD, &sent[i]); //~ give(out)
        }
        for (int i = 0; i < partners[d]; i++) {
            int which;
            MPI_Waitany(partners[d], got, &which, MPI_STATUS_IGNORE);
            for (int j = 0; j < many[d][which]; j++)
                value[j] += in[first[d][which] + j] * 0.5;
        }
        MPI_Waitall(partners[d], sent, MPI_STATUSES_IGNORE);
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
        exchange(got, sent);
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += value[j] * (j + 1);
    printf("%d %.3f\n", rank, sum);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
