/* Where a block of a struct type begins is counted by what MPI says of the type before it. */
#include <mpi.h>
#include <stdio.h>

typedef struct {
    float x, y, z, v;
    int id, kind;
} body;

#define N 40

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;
    static body out[N], in[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype type, of[2] = {MPI_FLOAT, MPI_INT};
    int lengths[2] = {4, 2};
    MPI_Aint at[2], first, bytes;
    MPI_Type_get_extent(MPI_FLOAT, &first, &bytes);
    at[0] = first;
    at[1] = 4 * bytes;
    MPI_Type_create_struct(2, lengths, at, of, &type);
    MPI_Type_commit(&type);
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < N; i++) {
            out[i].x = rank + t;
            out[i].y = 0.5f * i;
            out[i].z = out[i].v = i;
            out[i].id = i;
            out[i].kind = t;
        }
        MPI_Irecv(in, N, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        MPI_Isend(out, N, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            sum += in[i].x * in[i].id + in[i].y + in[i].kind;
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
