/* The cube is split along x and y.  Messages are the faces before every step,
 * two points thick, and within a sweep the rows of each plane of z. */
#include "lu.h"

#include <stdlib.h>

int rank, size;
int procs[2], coord[2];

static int neighbour[2][2];     /* along x and y: below and above */

/* Faces, by the direction in which they travel; rows that come and go along
 * x and along y. */
static double *face_out[2], *face_in[2];
static double *row_in[2], *row_out[2];
static int face_size;

/* 0 where the ranks are no power of two, or too many. */
int make_grid(cell_t *c)
{
    procs[0] = procs[1] = 1;
    while (procs[0] * procs[1] < size)
        if (procs[1] == procs[0])
            procs[1] *= 2;
        else
            procs[0] *= 2;
    if (procs[0] * procs[1] != size || procs[1] * 3 > points)
        return 0;

    coord[0] = rank % procs[0];
    coord[1] = rank / procs[0];
    for (int a = 0; a < 2; a++) {
        int step = a == 0 ? 1 : procs[0], extra = points % procs[a];
        neighbour[a][0] = coord[a] > 0 ? rank - step : MPI_PROC_NULL;
        neighbour[a][1] = coord[a] < procs[a] - 1 ? rank + step : MPI_PROC_NULL;
        c->n[a] = points / procs[a] + (coord[a] < extra);
        c->lo[a] = coord[a] * (points / procs[a]) + (coord[a] < extra ? coord[a] : extra);
    }
    c->n[2] = points;
    c->lo[2] = 0;
    return 1;
}

void exchange_init(const cell_t *c)
{
    int longest = c->n[0] > c->n[1] ? c->n[0] : c->n[1];

    face_size = GHOSTS * longest * c->n[2] * NQ;
    for (int d = 0; d < 2; d++) {
        face_out[d] = allocate(face_size * sizeof(double));
        face_in[d] = allocate(face_size * sizeof(double));
        row_in[d] = allocate(longest * NQ * sizeof(double));
        row_out[d] = allocate(longest * NQ * sizeof(double));
    }
}

void exchange_finish(void)
{
    for (int d = 0; d < 2; d++) {
        free(face_out[d]);
        free(face_in[d]);
        free(row_in[d]);
        free(row_out[d]);
    }
}

/* The two layers next to a side along x or y: packed, their number returned. */
static int pack_face(const cell_t *c, const double *u, int axis, int side)
{
    int count = 0, start = side ? c->n[axis] - GHOSTS : 0;

    for (int k = 0; k < c->n[2]; k++)
        for (int t = 0; t < c->n[1 - axis]; t++)
            for (int layer = start; layer < start + GHOSTS; layer++) {
                const double *from = u + (axis == 0 ? AT(c, layer, t, k) : AT(c, t, layer, k));
                for (int m = 0; m < NQ; m++)
                    face_out[side][count++] = from[m];
            }
    return count;
}

static void unpack_face(const cell_t *c, double *u, int axis, int side)
{
    int count = 0, start = side ? c->n[axis] : -GHOSTS;

    for (int k = 0; k < c->n[2]; k++)
        for (int t = 0; t < c->n[1 - axis]; t++)
            for (int layer = start; layer < start + GHOSTS; layer++) {
                double *to = u + (axis == 0 ? AT(c, layer, t, k) : AT(c, t, layer, k));
                for (int m = 0; m < NQ; m++)
                    to[m] = face_in[side][count++];
            }
}

/* Fill the ghosts of u along x and along y. */
void exchange_faces(const cell_t *c, double *u)
{
    MPI_Request request[2];

    for (int axis = 0; axis < 2; axis++) {
        for (int side = 0; side < 2; side++)
            MPI_Irecv(face_in[side], face_size, MPI_DOUBLE, neighbour[axis][side], 10 + 1 - side,
                      MPI_COMM_WORLD, &request[side]);
        for (int side = 0; side < 2; side++) {
            if (neighbour[axis][side] == MPI_PROC_NULL)
                continue;
            int count = pack_face(c, u, axis, side);
            MPI_Send(face_out[side], count, MPI_DOUBLE, neighbour[axis][side], 10 + side, MPI_COMM_WORLD);
        }
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        for (int side = 0; side < 2; side++)
            if (neighbour[axis][side] != MPI_PROC_NULL)
                unpack_face(c, u, axis, side);
    }
}

/* The rows of plane k that the sweep needs before this rank can begin: the
 * ghosts next to the sides it comes from. */
void recv_rows(const cell_t *c, double *v, int k, int up)
{
    int from_x = neighbour[0][up ? 0 : 1], from_y = neighbour[1][up ? 0 : 1];

    if (from_x != MPI_PROC_NULL) {
        int i = up ? -1 : c->n[0];
        MPI_Recv(row_in[0], NQ * c->n[1], MPI_DOUBLE, from_x, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int j = 0; j < c->n[1]; j++)
            for (int m = 0; m < NQ; m++)
                v[AT(c, i, j, k) + m] = row_in[0][j * NQ + m];
    }
    if (from_y != MPI_PROC_NULL) {
        int j = up ? -1 : c->n[1];
        MPI_Recv(row_in[1], NQ * c->n[0], MPI_DOUBLE, from_y, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < c->n[0]; i++)
            for (int m = 0; m < NQ; m++)
                v[AT(c, i, j, k) + m] = row_in[1][i * NQ + m];
    }
}

/* The rows of plane k at the sides that the sweep leaves by. */
void send_rows(const cell_t *c, const double *v, int k, int up)
{
    int to_x = neighbour[0][up ? 1 : 0], to_y = neighbour[1][up ? 1 : 0];

    if (to_x != MPI_PROC_NULL) {
        int i = up ? c->n[0] - 1 : 0;
        for (int j = 0; j < c->n[1]; j++)
            for (int m = 0; m < NQ; m++)
                row_out[0][j * NQ + m] = v[AT(c, i, j, k) + m];
        MPI_Send(row_out[0], NQ * c->n[1], MPI_DOUBLE, to_x, 20, MPI_COMM_WORLD);
    }
    if (to_y != MPI_PROC_NULL) {
        int j = up ? c->n[1] - 1 : 0;
        for (int i = 0; i < c->n[0]; i++)
            for (int m = 0; m < NQ; m++)
                row_out[1][i * NQ + m] = v[AT(c, i, j, k) + m];
        MPI_Send(row_out[1], NQ * c->n[0], MPI_DOUBLE, to_y, 21, MPI_COMM_WORLD);
    }
}
