/* The places are told apart by the MPI; the type is made in a function. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double place, speed[2];
    int kind, mark;
} cell;

static void make_type(MPI_Datatype *made)
{
    cell one;
    MPI_Datatype of[3] = {MPI_DOUBLE, MPI_DOUBLE, MPI_INT};
    int lengths[3] = {1, 2, 2};
    MPI_Aint base, at[3];
    MPI_Get_address(&one, &base);
    MPI_Get_address(&one.place, &at[0]);
    MPI_Get_address(&one.speed, &at[1]);
    MPI_Get_address(&one.kind, &at[2]);
    at[0] = MPI_Aint_diff(at[0], base);
    at[1] = MPI_Aint_diff(at[1], base);
    at[2] = MPI_Aint_diff(at[2], base);
    MPI_Type_create_struct(3, lengths, at, of, made);
    MPI_Type_commit(made);
}

int main(int argc, char **argv)
{
    int rank, n = 50;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype type;
    make_type(&type);
    cell *out = malloc(n * sizeof(cell)), *in = malloc(n * sizeof(cell));
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < n; i++) { //~ hole: i = 0 => i = 1
            out[i].place = rank + i;
            out[i].speed[0] = 0.5 * i + t;
            out[i].speed[1] = i % 3;
            out[i].kind = t;
            out[i].mark = i;
        }
        MPI_Irecv(in, n, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        MPI_Isend(out, n, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            sum += in[i].place + in[i].speed[0] * in[i].speed[1] + in[i].kind * in[i].mark;
    }
    printf("%d %.17g\n", rank, sum);
    free(out);
    free(in);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
