/* A tree that grows, and is added up. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double out[N], in[N];
struct node {
    double value;
    struct node *left, *right;
};

static struct node *insert(struct node *at, double value)
{
    if (!at) {
        at = calloc(1, sizeof *at);
        if (!at)
            abort();
        at->value = value;
    } else if (value < at->value) {
        at->left = insert(at->left, value);
    } else {
        at->right = insert(at->right, value);
    }
    return at;
}

static double sum(const struct node *at)
{
    return at ? at->value + sum(at->left) + sum(at->right) : 0.0;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    struct node *root = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                out[i] = u[i] + step;
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
            root = insert(root, u[step]);
            u[0] += sum(root);
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < N; i++)
                v[i] += in[i];
        }
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
