/* The cells, and the exchange of their faces. */
#include "partition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int rank, size;
int width;
cell_t cells[MAXCELLS];
int place[MAXCELLS][3];
int cell_at[3][MAXCELLS];
int neighbour[3][2];
int longest;

/* Faces of all cells that go to one neighbour, two points thick: along each
 * axis down and up. */
static double *out[6], *in[6];
static int face_size;

/* 0 where the number of ranks is no square, or too great. */
int make_cells(void)
{
    for (width = 1; width * width < size; width++)
        ;
    if (width * width != size || width > MAXCELLS || points / width < 3)
        return 0;

    int x = rank % width, y = rank / width, base = points / width, extra = points % width;
    for (int n = 0; n < width; n++) {
        place[n][0] = (x + n) % width;
        place[n][1] = (y + width - n) % width;
        place[n][2] = n;
        for (int a = 0; a < 3; a++) {
            int at = place[n][a];
            cell_at[a][at] = n;
            cells[n].n[a] = base + (at < extra);
            cells[n].lo[a] = at * base + (at < extra ? at : extra);
        }
        new_cell(&cells[n]);
    }
    int left = (x + width - 1) % width, right = (x + 1) % width;
    int before = (y + width - 1) % width, after = (y + 1) % width;
    neighbour[0][0] = y * width + left;
    neighbour[0][1] = y * width + right;
    neighbour[1][0] = before * width + x;
    neighbour[1][1] = after * width + x;
    neighbour[2][0] = before * width + right;
    neighbour[2][1] = after * width + left;

    longest = base + (extra > 0);
    return 1;
}

void exchange_init(void)
{
    face_size = width * GHOSTS * longest * longest * NQ;
    for (int d = 0; d < 6; d++) {
        out[d] = allocate(face_size * sizeof(double));
        in[d] = allocate(face_size * sizeof(double));
    }
}

void exchange_finish(void)
{
    for (int d = 0; d < 6; d++) {
        free(out[d]);
        free(in[d]);
    }
}

void free_cells(void)
{
    for (int n = 0; n < width; n++)
        free_cell(&cells[n]);
}

/* Does the cell have another one on that side? */
static int goes_on(int n, int axis, int side)
{
    return side ? place[n][axis] < width - 1 : place[n][axis] > 0;
}

/* The box of a cell's points next to a side: inside it, or the ghosts beyond. */
static void box(const cell_t *c, int axis, int side, int ghosts, int first[3], int last[3])
{
    for (int a = 0; a < 3; a++) {
        first[a] = 0;
        last[a] = c->n[a] - 1;
    }
    if (ghosts)
        first[axis] = side ? c->n[axis] : -GHOSTS;
    else
        first[axis] = side ? c->n[axis] - GHOSTS : 0;
    last[axis] = first[axis] + GHOSTS - 1;
}

static int pack(int d)
{
    int axis = d / 2, side = d % 2, count = 0, first[3], last[3];

    for (int n = 0; n < width; n++) {
        const cell_t *c = &cells[n];
        if (!goes_on(n, axis, side))
            continue;
        box(c, axis, side, 0, first, last);
        for (int k = first[2]; k <= last[2]; k++)
            for (int j = first[1]; j <= last[1]; j++)
                for (int i = first[0]; i <= last[0]; i++)
                    for (int m = 0; m < NQ; m++)
                        out[d][count++] = c->u[AT(c, i, j, k) + m];
    }
    return count;
}

static void unpack(int d)
{
    int axis = d / 2, side = d % 2, count = 0, first[3], last[3];

    for (int n = 0; n < width; n++) {
        const cell_t *c = &cells[n];
        if (!goes_on(n, axis, side))
            continue;
        box(c, axis, side, 1, first, last);
        for (int k = first[2]; k <= last[2]; k++)
            for (int j = first[1]; j <= last[1]; j++)
                for (int i = first[0]; i <= last[0]; i++)
                    for (int m = 0; m < NQ; m++)
                        c->u[AT(c, i, j, k) + m] = in[d][count++];
    }
}

/* Fill the ghosts of all cells: one message to and from each of six neighbours.
 * The tag says on which side of the receiver the faces lie. */
void exchange_faces(void)
{
    MPI_Request request[12];

    if (size == 1)
        return;
    for (int d = 0; d < 6; d++)
        MPI_Irecv(in[d], face_size, MPI_DOUBLE, neighbour[d / 2][d % 2], d, MPI_COMM_WORLD, &request[d]);
    for (int d = 0; d < 6; d++) {
        int count = pack(d);
        MPI_Isend(out[d], count, MPI_DOUBLE, neighbour[d / 2][d % 2], d ^ 1, MPI_COMM_WORLD, &request[6 + d]);
    }
    MPI_Waitall(12, request, MPI_STATUSES_IGNORE);
    for (int d = 0; d < 6; d++)
        unpack(d);
}

static void norms(const double mine[NQ], double norm[NQ])
{
    MPI_Allreduce(mine, norm, NQ, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int m = 0; m < NQ; m++)
        norm[m] = sqrt(norm[m] / pow(points - 2, 3.0));
}

/* Compare the rates of change, which must be up to date, and the errors with
 * the published ones. */
void report(const char *program, char name, int steps, const double *want_rate, const double *want_error,
            double spent, int *good)
{
    double rates[NQ] = { 0.0 }, errors[NQ] = { 0.0 }, rate[NQ], error[NQ], slowest;

    for (int n = 0; n < width; n++) {
        add_rates(&cells[n], rates);
        add_errors(&cells[n], errors);
    }
    norms(rates, rate);
    norms(errors, error);
    MPI_Reduce(&spent, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    *good = 1;
    if (rank == 0) {
        printf("%s: class %c, %d points along each axis, %d steps\n", program, name, points, steps);
        *good = agree("rate", rate, want_rate, NQ) & agree("error", error, want_error, NQ);
        printf("time %.6f s\n", slowest);
        printf("verification: %s\n", *good ? "SUCCESSFUL" : "FAILED");
    }
    MPI_Bcast(good, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
