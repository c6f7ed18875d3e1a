/*
 * The same exchange by libopi and by the MPI below, for alltoall.c: every form, in place too, with types that have gaps.
 */
#ifndef ALLTOALL_FORMS_H
#define ALLTOALL_FORMS_H

#include "../check.h"

enum form { ALL, VECTOR, EACH, LARGE_ALL, LARGE_VECTOR, LARGE_EACH, FORMS };

static const char *const names[FORMS] = {"all", "vector", "each", "all_c", "vector_c", "each_c"};

/* One side of an exchange, for all forms. */
struct side {
    MPI_Datatype type;
    size_t extent; /* of one element */
    char *buffer;
    size_t bytes;
    int *counts, *places, *byte_places;
    MPI_Count *many;
    MPI_Aint *far_places, *far_byte_places;
    MPI_Datatype *types;
};

static int ranks, rank; /* in the communicator of the exchange */

/* Elements from one rank to another. Alltoall has them equal; in place they are so for each pair. */
static int elements(int form, int from, int to, int most)
{
    if (form % 3 == ALL)
        return most;
    int low = from < to ? from : to, high = from < to ? to : from;
    return (low * 5 + high * 3) % 4 * most / 3;
}

/* The parts lie in the reverse order of the ranks, with room between them; those of Alltoall where it wants them. */
static void lay_out(struct side *s, int form, int most, MPI_Datatype type, int sends)
{
    MPI_Aint lb, extent;
    size_t n = (size_t)ranks;
    MPI_Type_get_extent(type, &lb, &extent);
    s->type = type;
    s->extent = (size_t)extent;
    s->counts = malloc(n * sizeof(int));
    s->places = malloc(n * sizeof(int));
    s->byte_places = malloc(n * sizeof(int));
    s->many = malloc(n * sizeof(MPI_Count));
    s->far_places = malloc(n * sizeof(MPI_Aint));
    s->far_byte_places = malloc(n * sizeof(MPI_Aint));
    s->types = malloc(n * sizeof(MPI_Datatype));
    int at = 0;
    for (int i = ranks - 1; i >= 0; i--) {
        s->counts[i] = sends ? elements(form, rank, i, most) : elements(form, i, rank, most);
        s->places[i] = form % 3 == ALL ? i * most : at;
        s->byte_places[i] = s->places[i] * (int)extent;
        s->many[i] = s->counts[i];
        s->far_places[i] = s->places[i];
        s->far_byte_places[i] = s->byte_places[i];
        s->types[i] = type;
        at += s->counts[i] + 1;
    }
    s->bytes = ((size_t)at + 1) * s->extent;
}

static void clear(struct side *s)
{
    free(s->counts), free(s->places), free(s->byte_places), free(s->many), free(s->far_places), free(s->far_byte_places), free(s->types);
}

static int exchange(int form, int own, const void *out, const struct side *s, void *in, const struct side *r, int most, MPI_Comm comm)
{
#define EITHER(name, ...) (own ? P##name(__VA_ARGS__) : name(__VA_ARGS__))
    switch (form) {
    case ALL: return EITHER(MPI_Alltoall, out, most, s->type, in, most, r->type, comm);
    case VECTOR: return EITHER(MPI_Alltoallv, out, s->counts, s->places, s->type, in, r->counts, r->places, r->type, comm);
    case EACH: return EITHER(MPI_Alltoallw, out, s->counts, s->byte_places, s->types, in, r->counts, r->byte_places, r->types, comm);
#if MPI_VERSION >= 4
    case LARGE_ALL: return EITHER(MPI_Alltoall_c, out, most, s->type, in, most, r->type, comm);
    case LARGE_VECTOR: return EITHER(MPI_Alltoallv_c, out, s->many, s->far_places, s->type, in, r->many, r->far_places, r->type, comm);
    case LARGE_EACH: return EITHER(MPI_Alltoallw_c, out, s->many, s->far_byte_places, s->types, in, r->many, r->far_byte_places, r->types, comm);
#endif
    default: return MPI_SUCCESS; /* this MPI has no such call */
    }
}

static char *memory(size_t bytes, int shared)
{
    void *p = NULL;
    if (shared)
        MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &p);
    else
        p = malloc(bytes);
    return p;
}

static void release(char *p, int shared)
{
    if (shared)
        MPI_Free_mem(p);
    else
        free(p);
}

/* The same exchange by libopi and by the MPI below, into buffers of the same contents: nothing may differ, gaps included. */
static void compare(MPI_Comm comm, int form, MPI_Datatype sends, MPI_Datatype receives, int most, int in_place, int shared)
{
    struct side s, r;
    lay_out(&s, form, most, sends, 1);
    lay_out(&r, form, most, receives, 0);
    size_t bytes = s.bytes > r.bytes ? s.bytes : r.bytes;
    char *out = memory(bytes, shared), *ours = memory(bytes, shared), *theirs = memory(bytes, shared);
    fill(out, bytes, (unsigned)(rank * 7 + form));
    fill(ours, bytes, (unsigned)(rank * 5 + 1));
    memcpy(theirs, ours, bytes);
    CHECK_CLASS(exchange(form, 0, in_place ? MPI_IN_PLACE : out, &s, ours, &r, most, comm), MPI_SUCCESS);
    CHECK_CLASS(exchange(form, 1, in_place ? MPI_IN_PLACE : out, &s, theirs, &r, most, comm), MPI_SUCCESS);
    CHECK(memcmp(ours, theirs, bytes) == 0);
    CHECK(differs(out, bytes, (unsigned)(rank * 7 + form)) == 0);
    release(out, shared), release(ours, shared), release(theirs, shared);
    clear(&s), clear(&r);
}

#define TYPES 3
static MPI_Datatype types[TYPES]; /* of two ints each */

static void make_types(void)
{
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {12, 4}; /* the second comes first in memory */
    MPI_Datatype vector, pair[2] = {MPI_INT, MPI_INT};

    MPI_Type_contiguous(2, MPI_INT, &types[0]);
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 5 * sizeof(int), &types[1]);
    MPI_Type_free(&vector);
    MPI_Type_create_struct(2, lengths, places, pair, &vector);
    MPI_Type_create_resized(vector, 0, 20, &types[2]);
    MPI_Type_free(&vector);
    for (int i = 0; i < TYPES; i++)
        MPI_Type_commit(&types[i]);
}

/* The first ``sizes`` of the SIZES numbers of elements. */
#define SIZES 7
#define SMALL_SIZES 5
static void forms(MPI_Comm comm, const char *which, int sizes)
{
    static const int most[SIZES] = {0, 1, 3, 45, 700, 20000, 90000};
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    for (int form = 0; form < FORMS; form++)
        for (int size = 0; size < sizes; size++)
            for (int shared = 0; shared < 2; shared++) {
                trying("%s, %s, %d elements, %s memory", which, names[form], most[size], shared ? "shared" : "private");
                compare(comm, form, MPI_INT, MPI_INT, 2 * most[size], 0, shared);
                compare(comm, form, MPI_INT, MPI_INT, 2 * most[size], 1, shared);
                if (size % 2 == 0)
                    continue;
                for (int s = 0; s < TYPES; s++)
                    for (int r = 0; r < TYPES; r++)
                        compare(comm, form, types[s], types[r], most[size], 0, shared);
                compare(comm, form, types[1], types[1], most[size], 1, shared);
            }
}

#endif
