/* Sound in a cube with reflecting walls: the wave equation by leapfrog, bricks
 * in 3-D.  Each rank puts its outermost layers straight from its grid into the
 * ghost layers of its neighbours' grids, between post/start and complete/wait. */
#define _POSIX_C_SOURCE 200112L
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COURANT 0.5             /* speed * dt / h */
#define TOLERANCE 1e-10

static const double pi = 3.14159265358979323846;
static const int waves[3] = {1, 2, 3};  /* half waves along each edge */

typedef struct {
    MPI_Comm comm;
    int rank, n;                /* n: points along an edge of the cube */
    int dims[3], at[3];
    int cells[3], first[3];     /* of this rank; the first one's number, from 1 */
    int beside[3][2];           /* neighbours; MPI_PROC_NULL beyond the walls */
    int beside_cells[3][2];     /* along that direction; the others are as here */
    double *grid[2];            /* this step and the one before, with ghosts, one after the other */
    int now;
    MPI_Win window;             /* over both grids */
    MPI_Group neighbours;
    MPI_Datatype layer[3][2], ghost[3][2];      /* here; of the neighbour's grid */
} brick;

static void share(int n, int parts, int which, int *cells, int *first)
{
    *cells = n / parts + (which < n % parts);
    *first = 1 + which * (n / parts) + (which < n % parts ? which : n % parts);
}

/* One layer across direction d of a grid with so many cells. */
static MPI_Datatype layer_of(const int cells[3], int d, int where)
{
    int size[3], part[3], start[3];
    MPI_Datatype type;

    for (int k = 0; k < 3; k++) {
        size[k] = cells[k] + 2;
        part[k] = k == d ? 1 : cells[k];
        start[k] = k == d ? where : 1;
    }
    MPI_Type_create_subarray(3, size, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static size_t volume(const int cells[3])
{
    return (size_t)(cells[0] + 2) * (size_t)(cells[1] + 2) * (size_t)(cells[2] + 2);
}

static double *cell(const brick *b, double *grid, int i, int j, int k)
{
    return grid + ((size_t)i * (size_t)(b->cells[1] + 2) + (size_t)j) * (size_t)(b->cells[2] + 2) + (size_t)k;
}

static double mode(const brick *b, int i, int j, int k)
{
    double h = pi / (b->n + 1);

    return sin(waves[0] * h * (b->first[0] + i - 1)) * sin(waves[1] * h * (b->first[1] + j - 1)) *
           sin(waves[2] * h * (b->first[2] + k - 1));
}

/* The grid's own frequency times dt: the mode is an exact solution of the scheme. */
static double phase(int n)
{
    double sum = 0;

    for (int d = 0; d < 3; d++)
        sum += pow(sin(waves[d] * pi / (2.0 * (n + 1))), 2);
    return 2 * asin(COURANT * sqrt(sum));
}

static void connect(brick *b)
{
    int list[6], n = 0, first, other[3];
    MPI_Group all;

    for (int d = 0; d < 3; d++) {
        MPI_Cart_shift(b->comm, d, 1, &b->beside[d][0], &b->beside[d][1]);
        for (int side = 0; side < 2; side++) {
            if (b->beside[d][side] == MPI_PROC_NULL)
                continue;
            list[n++] = b->beside[d][side];
            for (int k = 0; k < 3; k++)
                other[k] = b->cells[k];
            share(b->n, b->dims[d], b->at[d] + (side ? 1 : -1), &other[d], &first);
            b->beside_cells[d][side] = other[d];
            b->layer[d][side] = layer_of(b->cells, d, side ? b->cells[d] : 1);
            b->ghost[d][side] = layer_of(other, d, side ? 0 : other[d] + 1);
        }
    }
    MPI_Comm_group(b->comm, &all);
    MPI_Group_incl(all, n, list, &b->neighbours);
    MPI_Group_free(&all);
}

static void setup(brick *b, int n)
{
    int periods[3] = {0, 0, 0}, size;
    double *memory;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    b->n = n;
    b->dims[0] = b->dims[1] = b->dims[2] = 0;
    MPI_Dims_create(size, 3, b->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, b->dims, periods, 0, &b->comm);
    MPI_Comm_rank(b->comm, &b->rank);
    MPI_Cart_coords(b->comm, b->rank, 3, b->at);
    for (int d = 0; d < 3; d++)
        share(n, b->dims[d], b->at[d], &b->cells[d], &b->first[d]);
    MPI_Aint bytes = (MPI_Aint)(2 * volume(b->cells) * sizeof(double));
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, b->comm, &memory, &b->window);
    for (size_t i = 0; i < 2 * volume(b->cells); i++)
        memory[i] = 0;
    b->grid[0] = memory;
    b->grid[1] = memory + volume(b->cells);
    b->now = 0;
    connect(b);
    for (int i = 1; i <= b->cells[0]; i++)
        for (int j = 1; j <= b->cells[1]; j++)
            for (int k = 1; k <= b->cells[2]; k++) {
                *cell(b, b->grid[0], i, j, k) = mode(b, i, j, k);
                *cell(b, b->grid[1], i, j, k) = mode(b, i, j, k) * cos(phase(n));
            }
}

static void put_layers(brick *b)
{
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++) {
            int other[3] = {b->cells[0], b->cells[1], b->cells[2]};
            if (b->beside[d][side] == MPI_PROC_NULL)
                continue;
            other[d] = b->beside_cells[d][side];
            MPI_Put(b->grid[b->now], 1, b->layer[d][side], b->beside[d][side],
                    b->now ? (MPI_Aint)volume(other) : 0, 1, b->ghost[d][side], b->window);
        }
}

static void step(brick *b)
{
    double *u = b->grid[b->now], *before = b->grid[1 - b->now];

    MPI_Win_post(b->neighbours, 0, b->window);
    MPI_Win_start(b->neighbours, 0, b->window);
    put_layers(b);
    MPI_Win_complete(b->window);
    MPI_Win_wait(b->window);
    for (int i = 1; i <= b->cells[0]; i++)
        for (int j = 1; j <= b->cells[1]; j++)
            for (int k = 1; k <= b->cells[2]; k++) {
                double here = *cell(b, u, i, j, k);
                double sum = *cell(b, u, i - 1, j, k) + *cell(b, u, i + 1, j, k) + *cell(b, u, i, j - 1, k) +
                             *cell(b, u, i, j + 1, k) + *cell(b, u, i, j, k - 1) + *cell(b, u, i, j, k + 1);
                double *next = cell(b, before, i, j, k);
                *next = 2 * here - *next + COURANT * COURANT * (sum - 6 * here);
            }
    b->now = 1 - b->now;
}

/* The largest difference from the known solution, and the largest amplitude. */
static void compare(const brick *b, int steps, double worst[2])
{
    double now = cos(steps * phase(b->n)), own[2] = {0, 0};

    for (int i = 1; i <= b->cells[0]; i++)
        for (int j = 1; j <= b->cells[1]; j++)
            for (int k = 1; k <= b->cells[2]; k++) {
                double u = *cell(b, b->grid[b->now], i, j, k);
                own[0] = fmax(own[0], fabs(u - now * mode(b, i, j, k)));
                own[1] = fmax(own[1], fabs(u));
            }
    MPI_Allreduce(own, worst, 2, MPI_DOUBLE, MPI_MAX, b->comm);
}

static void clean_up(brick *b)
{
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            if (b->beside[d][side] != MPI_PROC_NULL) {
                MPI_Type_free(&b->layer[d][side]);
                MPI_Type_free(&b->ghost[d][side]);
            }
    MPI_Group_free(&b->neighbours);
    MPI_Win_free(&b->window);
    MPI_Comm_free(&b->comm);
}

int main(int argc, char **argv)
{
    brick b;
    double worst[2];
    int n, steps, ok;

    MPI_Init(&argc, &argv);
    n = argc > 1 ? atoi(argv[1]) : 96;
    steps = argc > 2 ? atoi(argv[2]) : 100;
    if (n < 16 || steps < 1) {
        fprintf(stderr, "usage: wave [N (16 or more) [STEPS]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    setup(&b, n);
    double begin = MPI_Wtime();
    for (int i = 0; i < steps; i++)
        step(&b);
    double seconds = MPI_Wtime() - begin;
    compare(&b, steps, worst);
    ok = worst[0] <= TOLERANCE; /* not so for what is no number */
    if (b.rank == 0) {
        printf("wave: %d^3 points, %d steps\n", n, steps);
        printf("amplitude: %.10f\n", worst[1]);
        printf("time total: %.6f s\n", seconds);
        printf("verification: %s\n", ok ? "PASSED" : "FAILED");
    }
    clean_up(&b);
    MPI_Finalize();
    return ok ? 0 : 1;
}
