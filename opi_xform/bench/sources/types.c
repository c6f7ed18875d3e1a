/*
 * types: half the time of a ping-pong of data with gaps: every second double, rows of 8 out of 16, and structures of a
 * char, an int and three doubles; every element is written and read.
 *
 *   mpiexec -n 2 ./types [samples [max_bytes]]
 */
#include "bench.h"

#include <stddef.h>

struct particle {
    char kind;
    int id;
    double at[3];
};

struct layout {
    const char *name;
    MPI_Datatype type;
    size_t unit; /* bytes of data in one element of the type */
};

static void make_layouts(struct layout *out)
{
    MPI_Datatype vector, rows, fields[3] = {MPI_CHAR, MPI_INT, MPI_DOUBLE}, particle;
    int lengths[3] = {1, 1, 3};
    MPI_Aint places[3] = {offsetof(struct particle, kind), offsetof(struct particle, id), offsetof(struct particle, at)};

    MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &vector);
    MPI_Type_contiguous(8, MPI_DOUBLE, &rows);
    MPI_Type_create_resized(rows, 0, 16 * sizeof(double), &out[1].type);
    MPI_Type_create_struct(3, lengths, places, fields, &particle);
    MPI_Type_create_resized(particle, 0, sizeof(struct particle), &out[2].type);
    MPI_Type_free(&rows);
    MPI_Type_free(&particle);
    out[0] = (struct layout){"double-of-2", vector, sizeof(double)};
    out[1] = (struct layout){"8-of-16", out[1].type, 8 * sizeof(double)};
    out[2] = (struct layout){"struct", out[2].type, 1 + sizeof(int) + 3 * sizeof(double)};
    for (int i = 0; i < 3; i++)
        MPI_Type_commit(&out[i].type);
}

static void fill(int layout, void *buffer, size_t count, double seed)
{
    double *d = buffer;
    struct particle *p = buffer;

    for (size_t i = 0; i < count; i++) {
        if (layout == 0) {
            d[2 * i] = seed + (double)i;
        } else if (layout == 1) {
            for (int j = 0; j < 8; j++)
                d[16 * i + (size_t)j] = seed + (double)i + j;
        } else {
            p[i].kind = (char)i;
            p[i].id = (int)i;
            for (int j = 0; j < 3; j++)
                p[i].at[j] = seed + (double)i + j;
        }
    }
}

static void check(int layout, const void *buffer, size_t count, double seed)
{
    const double *d = buffer;
    const struct particle *p = buffer;
    long wrong = 0;

    for (size_t i = 0; i < count; i++) {
        if (layout == 0) {
            wrong += d[2 * i] != seed + (double)i;
        } else if (layout == 1) {
            for (int j = 0; j < 8; j++)
                wrong += d[16 * i + (size_t)j] != seed + (double)i + j;
        } else {
            wrong += p[i].kind != (char)i || p[i].id != (int)i;
            for (int j = 0; j < 3; j++)
                wrong += p[i].at[j] != seed + (double)i + j;
        }
    }
    bench_wrong += wrong;
}

static void run(const struct layout *l, int which, size_t bytes, void *out, void *in)
{
    size_t elements = bytes / l->unit ? bytes / l->unit : 1;
    int count = bench_count(bytes), peer = 1 - bench_rank;

    bench_barrier();
    for (int i = 0; i < BENCH_WARM_UP + count; i++) {
        double t = bench_now();
        if (bench_rank == 0) {
            fill(which, out, elements, i);
            MPI_Send(out, (int)elements, l->type, peer, 1, MPI_COMM_WORLD);
        }
        MPI_Recv(in, (int)elements, l->type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(which, in, elements, i);
        if (bench_rank == 1) {
            fill(which, out, elements, i);
            MPI_Send(out, (int)elements, l->type, peer, 1, MPI_COMM_WORLD);
        }
        if (i >= BENCH_WARM_UP)
            bench_keep(bench_now() - t);
    }
    bench_print(elements * l->unit, l->name, 2);
}

int main(int argc, char **argv)
{
    struct layout layouts[3];

    bench_start("types", argc, argv);
    make_layouts(layouts);
    void *out = bench_memory(2 * bench_max_bytes + 4096), *in = bench_memory(2 * bench_max_bytes + 4096);
    for (int which = 0; which < 3; which++)
        for (size_t bytes = 64; bytes <= bench_max_bytes; bytes *= 8)
            run(&layouts[which], which, bytes, out, in);
    bench_release(out);
    bench_release(in);
    for (int which = 0; which < 3; which++)
        MPI_Type_free(&layouts[which].type);
    return bench_stop();
}
