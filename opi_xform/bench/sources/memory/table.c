/*
 * An application with a large table that nobody writes: particles in cells, one row of them per rank, whose energies come
 * from the table; what crosses to the neighbours' cells is exchanged, and energies are summed up.
 *
 * The table is one of two:
 *   (nothing)         numbers, 64 MiB: in the pages of the program's file, which processes share, too
 *   -DWITH_ADDRESSES  materials with their names, 4 MiB: the loader puts the addresses in, so that each process has pages
 *                     of its own
 * -DROWS makes it smaller.
 */
#include "memory.h"

#define CELLS 4096
#define STEPS 4

#ifdef WITH_ADDRESSES
#ifndef ROWS
#define ROWS (1 << 18)
#endif
struct material {
    const char *name;
    double energy;
};
static const struct material table[ROWS] = {[0 ... ROWS - 1] = {"void", 0.0}, [17] = {"copper", 2.0}};

static double energy_of(int row)
{
    return table[row].name[0] == 'c' ? table[row].energy : table[row].name[0] == 'v' ? 0.0 : -1.0;
}
#else
#ifndef ROWS
#define ROWS (8 << 20)
#endif
static const double table[ROWS] = {[17] = 2.0};

static double energy_of(int row)
{
    return table[row];
}
#endif

static double cell[CELLS + 2], next[CELLS + 2];

static void exchange(void)
{
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;

    MPI_Sendrecv(&cell[1], 1, MPI_DOUBLE, left, 1, &cell[CELLS + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&cell[CELLS], 1, MPI_DOUBLE, right, 2, &cell[0], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    double energy = 0.0, all = 0.0;

    start(&argc, &argv);
    for (int i = 1; i <= CELLS; i++)
        cell[i] = 1.0;
    for (int step = 0; step < STEPS; step++) {
        exchange();
        for (int i = 1; i <= CELLS; i++)
            next[i] = 0.25 * cell[i - 1] + 0.5 * cell[i] + 0.25 * cell[i + 1];
        for (int i = 1; i <= CELLS; i++)
            cell[i] = next[i];
        for (int i = 0; i < ROWS; i += 64) /* every page of it */
            energy += energy_of(i + (step == 3 ? 17 : 0));
    }
    MPI_Allreduce(&energy, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return finish(argc, argv, all != 2.0 * size);
}
