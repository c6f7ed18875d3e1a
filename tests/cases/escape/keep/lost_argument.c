/* A function that is not followed, for it uses setjmp, changes a size in the struct that it is given. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct field {
    int nx, ny;
    double *data;
};

static jmp_buf failed;

static void check(double x)
{
    if (x < 0)
        longjmp(failed, 1);
}

static void more(struct field *field)
{
    if (!setjmp(failed))
        field->ny += 1;
}

static double sum(const double *v, int n)
{
    double total = 0.0;

    if (setjmp(failed))
        return -1.0;
    for (int i = 0; i < n; i++) {
        check(v[i]);
        total += v[i] * (i % 5);
    }
    return total;
}

static void report(struct field *field, int rank, int size, int t)
{
    double *part = malloc(2 * field->nx * field->ny * sizeof(double));

    if (rank == 0) {
        double *whole = malloc(size * field->nx * field->ny * sizeof(double));
        memcpy(whole, field->data, field->nx * field->ny * sizeof(double));
        for (int p = 1; p < size; p++) {
            MPI_Recv(part, field->nx * field->ny, MPI_DOUBLE, p, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
            part[0] += p;
            if (t == 9)
                more(field);
            memcpy(&whole[p * field->nx * field->ny], part, field->nx * field->ny * sizeof(double));
        }
        printf("%.17g\n", sum(whole, size * field->nx * field->ny));
        free(whole);
    } else {
        memcpy(part, field->data, field->nx * field->ny * sizeof(double));
        MPI_Send(part, field->nx * field->ny, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD); //~ give(part)
    }
    free(part);
}

int main(int argc, char **argv)
{
    int rank, size;
    struct field field;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    field.nx = argc > 1 ? atoi(argv[1]) : 40;
    field.ny = 50;
    field.data = malloc(field.nx * field.ny * sizeof(double));
    for (int i = 0; i < field.nx * field.ny; i++)
        field.data[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        report(&field, rank, size, t);
        for (int i = 0; i < field.nx * field.ny; i++)
            field.data[i] += t;
    }
    free(field.data);
    MPI_Finalize();
    return 0;
}
