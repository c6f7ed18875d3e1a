/* The datatype is a member; the loop stores to a struct in the struct. */
#include <mpi.h>
#include <stdio.h>

struct state {
    struct {
        int turn;
        double sum;
    } now;
    MPI_Datatype type;
};
static double in[64], out[64];

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    static struct state z;
    struct state *s = &z;
    MPI_Type_contiguous(64, MPI_DOUBLE, &s->type);
    MPI_Type_commit(&s->type);
    double sum = 0;
    for (int i = 0; i < 64; i++)
        in[i] = rank + i;
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < 64; i++)
            out[i] = rank + t + i;
        MPI_Request rq;
        MPI_Irecv(in, 1, s->type, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &rq); //~ take(in)
        MPI_Send(out, 1, s->type, (rank + 1) % size, 0, MPI_COMM_WORLD); //~ give(out)
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        s->now.turn++;
        s->now.sum = in[3];
        for (int i = 0; i < 64; i++)
            sum += in[i] * (i + t);
    }
    printf("%d %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
