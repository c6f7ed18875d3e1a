/* Blocks hang in a linked list; the list is walked after the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double rbuf[N];

struct node {
    double *data;
    struct node *next;
};

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct node *head = NULL;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int k = 0; k < 2; k++) {
        struct node *n = malloc(sizeof *n);
        n->data = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            n->data[i] = u[i] + k;
        n->next = head;
        head = n;
    }
    if (rank == 0) {
        MPI_Send(head->data, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        for (struct node *n = head; n; n = n->next)
            printf("%.17g\n", n->data[1]);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
