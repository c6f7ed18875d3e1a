/* MPI tells the size of a type's data, which is not how far apart its elements are. */
#include <mpi.h>
#include <stdio.h>

typedef struct {
    double x;
    int id;
} body;

#define N 40

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;
    body out[N], in[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype type, of[2] = {MPI_DOUBLE_INT, MPI_INT};
    MPI_Type_size(MPI_DOUBLE_INT, &size);
    int lengths[2] = {1, 1};
    MPI_Aint at[2] = {0, size};
    MPI_Type_create_struct(2, lengths, at, of, &type);
    MPI_Type_commit(&type);
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < N; i++) {
            out[i].x = 0.5 * i + rank;
            out[i].id = i;
        }
        MPI_Irecv(in, N / 2, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep(in) OPI207
        MPI_Isend(out, N / 2, type, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep(out) OPI107
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N / 2; i++)
            sum += in[i].x;
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
