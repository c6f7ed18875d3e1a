/* Where nobody is beside, nothing is waited for; and the buffers are freed if they are there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double u[40];

static void exchange(int left, int right, int n)
{
    MPI_Request q[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int many = 0;
    double *to_left = malloc(n * sizeof(double));
    double *from_left = malloc(n * sizeof(double));
    double *to_right = malloc(n * sizeof(double));
    double *from_right = malloc(n * sizeof(double));
    if (!to_left || !from_left || !to_right || !from_right)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < n; i++) {
        to_left[i] = u[i];
        to_right[i] = 2 * u[n - 1 - i];
    }
    if (left != MPI_PROC_NULL) {
        MPI_Irecv(from_left, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &q[many++]); //~ take(from_left)
        MPI_Isend(to_left, n, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &q[many++]);   //~ give(to_left)
    }
    if (right != MPI_PROC_NULL) {
        MPI_Irecv(from_right, n, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &q[many++]); //~ take(from_right)
        MPI_Isend(to_right, n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &q[many++]);   //~ give(to_right)
    }
    if (many > 0)
        MPI_Waitall(many, q, MPI_STATUSES_IGNORE);
    if (left != MPI_PROC_NULL)
        for (int i = 0; i < n; i++)
            u[i] += 0.5 * from_left[i];
    if (right != MPI_PROC_NULL)
        for (int i = 0; i < n; i++)
            u[i] -= 0.25 * from_right[i];
    free(to_left);
    free(to_right);
    if (from_left)
        free(from_left);
    if (from_right != NULL)
        free(from_right);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < 40; i++)
        u[i] = rank * 100 + i;
    for (int step = 0; step < 3; step++)
        exchange(left, right, argc + 29);
    double sum = 0;
    for (int i = 0; i < 40; i++)
        sum += u[i] * (i % 7 + 1);
    printf("%d %.3f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
