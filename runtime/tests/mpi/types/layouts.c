/*
 * Random datatypes, of every constructor, in each other: libopi packs and unpacks what MPI_Pack does, in the same order, and touches nothing else. Types with a
 * large extent cost nothing for it.
 *
 * layouts [TYPES [SEED]]
 */
#include "../check.h"

#include <time.h>

#define ROOM ((size_t)1 << 16)
#define MIDDLE (ROOM / 2)
#define MOST_BYTES ((size_t)1 << 14)

/* Open MPI 5.0.11 packs several elements of some structures with a member of no bytes as if nothing stood between them. */
#ifdef OPEN_MPI
#define EMPTY_MEMBERS_GO_WRONG 1
#else
#define EMPTY_MEMBERS_GO_WRONG 0
#endif

static unsigned state;

static int pick(int n)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)n);
}

static const MPI_Datatype basic[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_FLOAT, MPI_LONG_DOUBLE, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT,
                                     MPI_2INT, MPI_LONG_INT, MPI_FLOAT_INT, MPI_BYTE, MPI_INT64_T, MPI_WCHAR,
#ifndef OPEN_MPI /* Open MPI 5.0.11 packs elements of it 32 bytes apart that were made 40 apart */
                                     MPI_C_DOUBLE_COMPLEX,
#endif
                                     MPI_C_BOOL};
#define BASIC (int)(sizeof basic / sizeof basic[0])

/* What one element occupies, at least: copies this far apart do not meet. */
static MPI_Aint step_of(MPI_Datatype t)
{
    MPI_Aint lb, extent, low, span, most;
    MPI_Type_get_extent(t, &lb, &extent);
    MPI_Type_get_true_extent(t, &low, &span);
    most = extent > span ? extent : span;
    return most > 1 ? most : 1;
}

static int large; /* by the constructors with large counts, where there are some */
#if MPI_VERSION >= 4
#define HAVE_LARGE 1
#else
#define HAVE_LARGE 0
#endif

static int padded; /* a value has bytes that the MPI need not copy */
static const char *made[64];
static int nmade;

#define MADE(name) (nmade < 64 ? (void)(made[nmade++] = (name)) : (void)0)

static MPI_Datatype any_basic(void)
{
    MPI_Datatype t = basic[pick(BASIC)];
    padded = padded || t == MPI_LONG_DOUBLE || t == MPI_LONG_DOUBLE_INT;
    return t;
}

/* One constructor around `of`, which is freed unless it is predefined. */
static MPI_Datatype around(MPI_Datatype of, int kind)
{
    MPI_Datatype t = MPI_DATATYPE_NULL, types[4];
    MPI_Aint lb, extent, step = step_of(of), at[6];
    int n = 1 + pick(4), lengths[6], places[6], sizes[3], subsizes[3], starts[3], blocks[3], hows[3], grid[3];
    int failed = 0;
    MPI_Type_get_extent(of, &lb, &extent);
    MPI_Aint units = extent > 0 ? (step + extent - 1) / extent : 1, where = pick(3), bytes = pick(40);
    for (int i = 0; i < n; i++) { /* blocks that do not meet, in ascending or descending order */
        lengths[i] = pick(6) ? 1 + pick(3) : 0;
        places[i] = (int)where;
        at[i] = bytes;
        where += (MPI_Aint)(lengths[i] + 1) * units + pick(3);
        bytes += (MPI_Aint)(lengths[i] + 1) * step + pick(9);
    }
    if (pick(3) == 0)
        for (int i = 0; i < n / 2; i++) {
            int l = lengths[i], p = places[i];
            MPI_Aint a = at[i];
            lengths[i] = lengths[n - 1 - i], places[i] = places[n - 1 - i], at[i] = at[n - 1 - i];
            lengths[n - 1 - i] = l, places[n - 1 - i] = p, at[n - 1 - i] = a;
        }
    int dims = 1 + pick(3), order = pick(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, all = 1;
    for (int d = 0; d < dims; d++) {
        sizes[d] = 1 + pick(5);
        subsizes[d] = 1 + pick(sizes[d]);
        starts[d] = pick(sizes[d] - subsizes[d] + 1);
        grid[d] = 1 + pick(3);
        hows[d] = pick(3) == 0 ? MPI_DISTRIBUTE_NONE : pick(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        if (hows[d] == MPI_DISTRIBUTE_NONE)
            grid[d] = 1;
        blocks[d] = hows[d] == MPI_DISTRIBUTE_NONE || pick(2) ? MPI_DISTRIBUTE_DFLT_DARG
                    : hows[d] == MPI_DISTRIBUTE_BLOCK ? (sizes[d] + grid[d] - 1) / grid[d] + pick(2) : 1 + pick(3);
        all *= grid[d];
    }
    MPI_Aint stride = (MPI_Aint)(pick(4) ? 1 : -1) * ((MPI_Aint)3 * step + pick(20));
    int jump = (int)((pick(4) ? 1 : -1) * (3 * units + pick(3)));
#if MPI_VERSION >= 4
    MPI_Count clengths[6], cplaces[6], cat[6], csizes[3], csubsizes[3], cstarts[3];
    for (int i = 0; i < n; i++)
        clengths[i] = lengths[i], cplaces[i] = places[i], cat[i] = at[i];
    for (int d = 0; d < dims; d++)
        csizes[d] = sizes[d], csubsizes[d] = subsizes[d], cstarts[d] = starts[d];
#define EITHER(call, call_c) (large ? (call_c) : (call))
#else
#define EITHER(call, call_c) (call)
#endif
    switch (kind) {
    case 0:
        MADE("contiguous");
        failed = EITHER(MPI_Type_contiguous(n, of, &t), MPI_Type_contiguous_c(n, of, &t));
        break;
    case 1:
        MADE("vector");
        failed = EITHER(MPI_Type_vector(n, 1 + pick(3), jump, of, &t), MPI_Type_vector_c(n, 1 + pick(3), jump, of, &t));
        break;
    case 2:
        MADE("hvector");
        failed = EITHER(MPI_Type_create_hvector(n, 1 + pick(3), stride, of, &t), MPI_Type_create_hvector_c(n, 1 + pick(3), stride, of, &t));
        break;
    case 3:
        MADE("indexed");
        failed = EITHER(MPI_Type_indexed(n, lengths, places, of, &t), MPI_Type_indexed_c(n, clengths, cplaces, of, &t));
        break;
    case 4:
        MADE("hindexed");
        failed = EITHER(MPI_Type_create_hindexed(n, lengths, at, of, &t), MPI_Type_create_hindexed_c(n, clengths, cat, of, &t));
        break;
    case 5:
        MADE("indexed_block");
        for (int i = 0; i < n; i++)
            places[i] = (int)(i * (3 * units + 1));
#if MPI_VERSION >= 4
        for (int i = 0; i < n; i++)
            cplaces[i] = places[i];
#endif
        failed = EITHER(MPI_Type_create_indexed_block(n, 1 + pick(3), places, of, &t), MPI_Type_create_indexed_block_c(n, 1 + pick(3), cplaces, of, &t));
        break;
    case 6:
        MADE("hindexed_block");
        for (int i = 0; i < n; i++)
            at[i] = (MPI_Aint)(n - i) * (3 * step + 5);
#if MPI_VERSION >= 4
        for (int i = 0; i < n; i++)
            cat[i] = at[i];
#endif
        failed = EITHER(MPI_Type_create_hindexed_block(n, 1 + pick(3), at, of, &t), MPI_Type_create_hindexed_block_c(n, 1 + pick(3), cat, of, &t));
        break;
    case 7: {
        MADE("struct");
        MPI_Aint place = pick(16);
        int empty;
        MPI_Type_size(of, &empty);
        empty = !empty;
        for (int i = 0; i < n; i++) {
            types[i] = pick(2) && !(EMPTY_MEMBERS_GO_WRONG && empty) ? of : any_basic();
            lengths[i] = EMPTY_MEMBERS_GO_WRONG || pick(5) ? 1 + pick(2) : 0;
            at[i] = place;
            place += (MPI_Aint)(lengths[i] + 1) * step_of(types[i]) + pick(5);
        }
#if MPI_VERSION >= 4
        for (int i = 0; i < n; i++)
            clengths[i] = lengths[i], cat[i] = at[i];
#endif
        failed = EITHER(MPI_Type_create_struct(n, lengths, at, types, &t), MPI_Type_create_struct_c(n, clengths, cat, types, &t));
        break;
    }
    case 8:
        MADE("subarray");
        failed = EITHER(MPI_Type_create_subarray(dims, sizes, subsizes, starts, order, of, &t),
               MPI_Type_create_subarray_c(dims, csizes, csubsizes, cstarts, order, of, &t));
        break;
    case 9:
        MADE("darray");
        failed = EITHER(MPI_Type_create_darray(all, pick(all), dims, sizes, hows, blocks, grid, order, of, &t),
               MPI_Type_create_darray_c(all, pick(all), dims, csizes, hows, blocks, grid, order, of, &t));
        break;
    case 10:
        MADE("resized");
        failed = EITHER(MPI_Type_create_resized(of, lb - pick(9), step + pick(32) + 8, &t), MPI_Type_create_resized_c(of, lb - pick(9), step + pick(32) + 8, &t));
        break;
    default:
        MADE("dup");
        failed = MPI_Type_dup(of, &t);
    }
    if (failed || t == MPI_DATATYPE_NULL) /* what the MPI does not make, as Open MPI some distributed arrays of nothing */
        return of;
    int named = 0;
    for (int i = 0; i < BASIC; i++)
        named = named || of == basic[i];
    if (!named)
        MPI_Type_free(&of);
    return t;
}

#define KINDS 12

static MPI_Datatype random_type(void)
{
    padded = 0;
    MPI_Datatype t = any_basic();
    nmade = 0;
    for (int depth = 1 + pick(4); depth > 0; depth--)
        t = around(t, pick(KINDS));
    MPI_Type_commit(&t);
    return t;
}

static unsigned char source[ROOM], wanted[2][ROOM], got[ROOM], target[ROOM], right[2][ROOM];

/* Both ways, between this rank and itself, by libopi; MPI_Pack and MPI_Unpack are the MPI's. */
static int compare(MPI_Datatype t, int count)
{
    MPI_Aint lb, extent, low, span;
    int size, at[2] = {0, 0}, bytes;
    MPI_Status status;
    MPI_Type_get_extent(t, &lb, &extent);
    MPI_Type_get_true_extent(t, &low, &span);
    MPI_Type_size(t, &size);
    bytes = size * count;
    MPI_Aint first = low + (extent < 0 ? extent * (count - 1) : 0), last = low + span + (extent > 0 ? extent * (count - 1) : 0);
    if (first < -(MPI_Aint)MIDDLE || last > (MPI_Aint)MIDDLE || bytes > (int)MOST_BYTES || size == 0)
        return 0;
    for (size_t i = 0; i < ROOM; i++)
        source[i] = (unsigned char)pick(256);
    for (int k = 0; k < 2; k++) { /* the MPI may leave padding as it was */
        memset(wanted[k], k ? 0xff : 0, ROOM);
        MPI_Pack(source + MIDDLE, count, t, wanted[k], (int)ROOM, &at[k], MPI_COMM_SELF);
    }
    CHECK(at[0] == bytes);
    memset(got, 0x55, sizeof got);
    MPI_Sendrecv(source + MIDDLE, count, t, 0, 1, got, (int)ROOM, MPI_BYTE, 0, 1, MPI_COMM_SELF, &status);
    int n = 0, wrong = 0;
    MPI_Get_count(&status, MPI_BYTE, &n);
    CHECK(n == bytes);
    for (int i = 0; i < bytes; i++)
        wrong += wanted[0][i] == wanted[1][i] && got[i] != wanted[0][i];
    CHECK(wrong == 0);
    for (size_t i = (size_t)bytes; i < ROOM; i++)
        wrong += got[i] != 0x55;
    CHECK(wrong == 0);

    /* Back, whole or cut off, onto other bytes. */
    for (int k = 0; k < 2; k++) {
        int place = 0;
        memset(right[k], k ? 0x5a : 0xa5, ROOM);
        MPI_Unpack(got, bytes, &place, right[k] + MIDDLE, count, t, MPI_COMM_SELF);
    }
    for (int cut = 0; cut < 2; cut++) {
        int part = cut ? 1 + pick(bytes) : bytes;
        memset(target, 0xa5, ROOM);
        MPI_Sendrecv(got, part, MPI_BYTE, 0, 2, target + MIDDLE, count, t, 0, 2, MPI_COMM_SELF, &status);
        size_t written = 0;
        for (size_t i = 0; i < ROOM; i++) {
            int its = right[0][i] == right[1][i];
            written += target[i] != 0xa5;
            wrong += its && target[i] != right[0][i] && (!cut || target[i] != 0xa5);
            wrong += !its && target[i] != 0xa5 && !padded;
        }
        CHECK(wrong == 0);
        CHECK(written <= (size_t)part);
    }
    return 1;
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The first message of a type whose bytes lie far apart: the time of the quickest of a few. */
static double first_use(int kind)
{
    double best = 1e9;
    static double a[4];
    for (int k = 0; k < 5; k++) {
        MPI_Datatype t, inner;
        int lengths[2] = {1, 1};
        MPI_Aint far = (MPI_Aint)250 << 20, places[2] = {0, far};
        double *p = NULL;
        switch (kind) {
        case 0:
            MPI_Type_create_hvector(2, 1, far, MPI_DOUBLE, &t);
            break;
        case 1:
            MPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &t);
            break;
        case 2:
            MPI_Type_vector(1 << 21, 1, 2, MPI_DOUBLE, &t);
            break;
        default:
            MPI_Type_contiguous(1000, MPI_DOUBLE, &inner);
            MPI_Type_vector(1000, 1, 4, inner, &t);
            MPI_Type_free(&inner);
        }
        MPI_Type_commit(&t);
        p = a; /* nothing is read: no element is sent */
        double before = cpu_ms();
        MPI_Sendrecv(p, 0, t, 0, 1, p, 0, t, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        double took = cpu_ms() - before;
        best = took < best ? took : best;
        MPI_Type_free(&t);
    }
    return best;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int types = argc > 1 ? atoi(argv[1]) : 2000, tried = 0;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    for (int i = 0; i < types; i++) {
        state = (seed + (unsigned)i) * 2654435761u + (unsigned)world_rank;
        large = HAVE_LARGE && pick(2);
        MPI_Datatype t = random_type();
        char names[256] = "";
        for (int k = 0; k < nmade; k++) {
            strncat(names, made[k], sizeof names - strlen(names) - 2);
            strncat(names, " ", 2);
        }
        trying("type %u: %s%s", seed + (unsigned)i, names, large ? "(large)" : "");
        int count = 1 + pick(3), before = failures;
        tried += compare(t, count);
        if (failures != before)
            CHECK(!"this type");
        MPI_Type_free(&t);
    }
    trying("of %d types %d were small enough", types, tried);
    CHECK(tried > types / 2);
    for (int kind = 0; kind < 4; kind++) {
        double ms = first_use(kind);
        trying("first use of large type %d: %.3f ms", kind, ms);
        CHECK(ms < 1);
    }
    return finish("layouts");
}
