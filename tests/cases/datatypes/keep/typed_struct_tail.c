/* The struct has padding at its end, and so has the datatype, since it has a double. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double place;
    int kind;
} cell;

int main(int argc, char **argv)
{
    int rank, n = 50;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype type, of[2] = {MPI_DOUBLE, MPI_INT};
    int lengths[2] = {1, 1};
    MPI_Aint at[2] = {offsetof(cell, place), offsetof(cell, kind)};
    MPI_Type_create_struct(2, lengths, at, of, &type);
    MPI_Type_commit(&type);
    cell *out = malloc(n * sizeof(cell)), *in = malloc(n * sizeof(cell));
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < n; i++) {
            out[i].kind = t;
            out[i].place = rank + i;
        }
        MPI_Irecv(in, n, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep(in) OPI207
        MPI_Isend(out, n, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep(out) OPI107
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            sum += in[i].place * in[i].kind;
    }
    printf("%d %.17g\n", rank, sum);
    free(out);
    free(in);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
