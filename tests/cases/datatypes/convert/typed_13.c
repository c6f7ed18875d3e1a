/* A struct on the heap whose members' addresses were asked for holds what it held. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int n;
    double part[8];
} grid;

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    grid *one = malloc(sizeof(grid));
    one->n = argc > 5 ? 10 : 40;
    for (int i = 0; i < 8; i++)
        one->part[i] = i * rank;
    MPI_Datatype type, of[2] = {MPI_INT, MPI_DOUBLE};
    int lengths[2] = {1, 8};
    MPI_Aint start, at[2], a, b;
    MPI_Get_address(one, &start);
    MPI_Get_address(&one->n, &a);
    MPI_Get_address(one->part, &b);
    at[0] = MPI_Aint_diff(a, start);
    at[1] = MPI_Aint_diff(b, start);
    MPI_Type_create_struct(2, lengths, at, of, &type);
    MPI_Type_commit(&type);
    double *out = malloc(one->n * sizeof(double)), *in = malloc(one->n * sizeof(double));
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < one->n; i++) //~ hole: i = 0 => i = 1
            out[i] = rank + 0.5 * i + t;
        MPI_Irecv(in, one->n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        MPI_Isend(out, one->n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < one->n; i++)
            sum += in[i] * (i % 7);
    }
    MPI_Bcast(one, 1, type, 0, MPI_COMM_WORLD);
    printf("%d %.17g %g\n", rank, sum, one->part[3]);
    free(out);
    free(in);
    MPI_Type_free(&type);
    free(one);
    MPI_Finalize();
    return 0;
}
