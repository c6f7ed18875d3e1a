/* The address of a struct goes through text, and what it leads to is read by it after the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 600

struct part {
    char name[8];
    double *data;
};

int main(int argc, char **argv)
{
    int rank;
    double s = 0, *in = malloc(N * sizeof *in);
    char text[64], how[8];
    struct part *p = malloc(sizeof *p), *again = NULL;
    unsigned long number;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    strcpy(how, argc > 5 ? "%s" : "%p");
    p->data = malloc(N * sizeof *p->data);
    snprintf(text, sizeof text, how, (void *)p);
    number = strtoul(text, NULL, 16);
    again = (struct part *)number;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            p->data[i] = i + 1;
        MPI_Send(p->data, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD); //~ keep
        s = again->data[5];
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            s += in[i];
    }
    if (rank < 2)
        printf("%d %g\n", rank, s);
    free(p->data);
    free(p);
    free(in);
    MPI_Finalize();
    return 0;
}
