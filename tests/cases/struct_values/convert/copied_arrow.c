/* A function makes the struct with the buffer, and returns it by value; members are named by its address. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int n, made;
    double *data;
} Buf;

static Buf buf_new(int n)
{
    Buf b;
    (&b)->n = n;
    b.made = 1;
    (&b)->data = malloc(n * sizeof(*(&b)->data));
    if ((&b)->data == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return b;
}

static void buf_free(Buf *b)
{
    free(b->data);
    b->data = NULL;
}

static void fill(Buf b, const double *u, double by)
{
    for (int i = 0; i < (&b)->n; i++)
        ( & b )->data[i] = u[i] * by;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 400, peer = size - 1 - rank;
    double *u = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        u[i] = rank + i;
    Buf out = buf_new(n), in = buf_new(n);
    for (int t = 0; t < 3; t++) {
        MPI_Request rq;
        fill(out, u, t + 1.5);
        MPI_Irecv(in.data, in.n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq); //~ take(in.data)
        MPI_Send(out.data, out.n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD); //~ give(out.data)
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < in.n; i++)
            u[i] += in.data[i] / 4;
    }
    double s = 0;
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    buf_free(&in);
    buf_free(&out);
    free(u);
    MPI_Finalize();
    return 0;
}
