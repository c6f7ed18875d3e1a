/* A struct type is made as long as the struct, which it is; a message's bytes are counted by the type's size. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double at[3];
    int id, kind;
} body;

int main(int argc, char **argv)
{
    int rank, n = 40, size;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype part, type, of[2] = {MPI_DOUBLE, MPI_INT};
    int lengths[2] = {3, 2};
    MPI_Aint at[2] = {0, 3 * sizeof(double)};
    MPI_Type_create_struct(2, lengths, at, of, &part);
    MPI_Type_create_resized(part, 0, sizeof(body), &type);
    MPI_Type_commit(&type);
    MPI_Type_size(MPI_DOUBLE, &size);
    body *out = malloc(n * sizeof(body));
    body *in = malloc(n * sizeof(body));
    double *rest = malloc(n * sizeof(double));
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < 3; k++)
                out[i].at[k] = rank + t + 0.25 * k;
            out[i].id = i;
            out[i].kind = t;
        }
        MPI_Irecv(in, n, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        MPI_Isend(out, n, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            sum += in[i].at[i % 3] * in[i].id + in[i].kind;
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                rest[i] = sum + i;
            MPI_Send(rest, n * size, MPI_BYTE, 1, 1, MPI_COMM_WORLD); //~ give(rest)
        } else {
            MPI_Recv(rest, n * size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rest)
            for (int i = 0; i < n; i++)
                sum += rest[i];
        }
    }
    printf("%d %.17g\n", rank, sum);
    free(out);
    free(in);
    free(rest);
    MPI_Type_free(&part);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
