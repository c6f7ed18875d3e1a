/* Where there is no memory, nothing is freed: said by a jump, and by a test that is turned. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

static double u[3 * N], v[3 * N];
static double *box;
static double *mail = NULL;

static void open_boxes(int n)
{
    box = (double *)malloc(3 * n * sizeof(double));
    mail = (double *)malloc(3 * n * sizeof(double));
}

static void close_boxes(void)
{
    if (!box)
        goto no_box;
    free(box);
    box = NULL;
no_box:
    if (!(mail == NULL)) {
        free(mail);
        mail = NULL;
    }
}

static void exchange(int peer, int n)
{
    MPI_Request rq[6];

    for (int k = 0; k < 3; k++)
        MPI_Irecv(&mail[k * n], n, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &rq[k]); //~ take(&mail[k * n])
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            box[i + k * n] = u[i] * (k + 1);
    for (int k = 2; k >= 0; k--)
        MPI_Isend(&box[k * n], n, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &rq[3 + k]); //~ give(&box[k * n])
    MPI_Waitall(6, rq, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n; i++)
            v[k * N + i] += mail[k * n + i];
}

int main(int argc, char **argv)
{
    int rank, n = argc > 5 ? 10 : N;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3 * N; i++)
        u[i] = rank + 0.5 * i;
    open_boxes(n);
    for (int step = 0; step < 2; step++)
        exchange(1 - rank, n);
    close_boxes();
    double total = 0.0;
    for (int i = 0; i < 3 * N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ points 4
