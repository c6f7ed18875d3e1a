/* windows_mpi.h - see windows.h: over MPI. */
#ifndef BENCH_WINDOWS_MPI_H
#define BENCH_WINDOWS_MPI_H

#include <mpi.h>

struct side {
    const char *name;
    int rank, size;
    int most;
    size_t max_bytes;
    long wrong;
    double begun;     /* the point's first sample */
    int crowded;      /* they share processors */
    MPI_Comm members; /* of a window: the target, 0, and its origins */
    int place;        /* in it */
    int origins;      /* of it */
    int windows;      /* one, or at the target as many as there are origins */
    MPI_Win window[SIDE_RANKS];
    MPI_Comm two[SIDE_RANKS];     /* of one of several windows; kept as long as it: a post is lost with MPICH 5.0.2 else */
    MPI_Group others[SIDE_RANKS]; /* of a window: its origins; at an origin: its target */
    char *exposed;                /* the target's memory */
    char *own;                    /* an origin's buffer */
};

static void side_start(struct side *s, const char *name, int argc, char **argv)
{
    memset(s, 0, sizeof *s);
    s->name = name;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->size);
    s->crowded = side_shares(s->size);
    s->most = argc > 1 ? atoi(argv[1]) : 100;
    s->max_bytes = argc > 2 ? (size_t)atol(argv[2]) : 4096;
}

static int side_stop(struct side *s)
{
    long all = 0;

    MPI_Allreduce(&s->wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (s->rank == 0)
        printf("%s wrong=%ld\n", s->name, all);
    MPI_Finalize();
    return all != 0;
}

static void side_form(struct side *s, int in_pairs)
{
    MPI_Comm_split(MPI_COMM_WORLD, in_pairs ? s->rank / 2 : 0, s->rank, &s->members);
    MPI_Comm_rank(s->members, &s->place);
    MPI_Comm_size(s->members, &s->origins);
    s->origins--;
}

static void side_part(struct side *s)
{
    MPI_Comm_free(&s->members);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void side_meet(const struct side *s)
{
    (void)s;
    MPI_Barrier(MPI_COMM_WORLD);
}

static int side_told(const struct side *s, int what)
{
    (void)s;
    MPI_Bcast(&what, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return what;
}

/* The mean of what the origins have measured, at rank 0. */
SIDE_UNUSED static double side_mean(struct side *s, double us)
{
    double mine = s->place == 0 ? 0 : us, sum = 0;

    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum / s->origins;
}

static char *side_memory(size_t bytes)
{
    char *p = malloc(bytes + 64);

    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 3);
    memset(p, 0, bytes + 64);
    return p;
}

static void side_open_one(struct side *s, enum kind kind, MPI_Comm comm, size_t room)
{
    MPI_Win *window = &s->window[s->windows];
    MPI_Group all;
    int target = 0;

    if (kind == ALLOCATE)
        MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, comm, &s->exposed, window);
    else
        MPI_Win_create(s->exposed, (MPI_Aint)room, 1, MPI_INFO_NULL, comm, window);
    MPI_Win_get_group(*window, &all);
    if (s->place == 0)
        MPI_Group_excl(all, 1, &target, &s->others[s->windows]);
    else
        MPI_Group_incl(all, 1, &target, &s->others[s->windows]);
    MPI_Group_free(&all);
    s->windows++;
}

/* With room for SIDE_DEPTH times so many bytes of each origin. Several windows are of the same memory, or of as much. */
static void side_open(struct side *s, enum kind kind, size_t bytes, int each)
{
    size_t room = s->place == 0 ? bytes * SIDE_DEPTH * (size_t)s->origins : 0;

    s->windows = 0;
    s->own = side_memory(bytes);
    s->exposed = kind == CREATE && room ? side_memory(room) : NULL;
    for (int i = 1; each && i <= s->origins; i++) {
        int mine = s->place == 0 || s->place == i;
        MPI_Comm two;
        MPI_Comm_split(s->members, mine ? 0 : MPI_UNDEFINED, s->place, &two);
        if (!mine)
            continue;
        s->two[s->windows] = two;
        side_open_one(s, kind, two, room);
    }
    if (each)
        return;
    s->two[0] = MPI_COMM_NULL;
    side_open_one(s, kind, s->members, room);
}

static void side_close(struct side *s, enum kind kind)
{
    for (int i = 0; i < s->windows; i++) {
        MPI_Win_free(&s->window[i]);
        MPI_Group_free(&s->others[i]);
        if (s->two[i] != MPI_COMM_NULL)
            MPI_Comm_free(&s->two[i]);
    }
    free(s->own);
    if (kind == CREATE)
        free(s->exposed);
}

SIDE_UNUSED static void side_post(struct side *s)
{
    for (int i = 0; i < s->windows; i++)
        MPI_Win_post(s->others[i], 0, s->window[i]);
}

SIDE_UNUSED static void side_wait(struct side *s)
{
    for (int i = 0; i < s->windows; i++)
        MPI_Win_wait(s->window[i]);
}

SIDE_UNUSED static void side_begin(struct side *s)
{
    MPI_Win_start(s->others[0], 0, s->window[0]);
}

SIDE_UNUSED static void side_end(struct side *s)
{
    MPI_Win_complete(s->window[0]);
}

SIDE_UNUSED static void side_fence(struct side *s)
{
    MPI_Win_fence(0, s->window[0]);
}

SIDE_UNUSED static void side_lock_all(struct side *s)
{
    MPI_Win_lock_all(0, s->window[0]);
}

SIDE_UNUSED static void side_unlock_all(struct side *s)
{
    MPI_Win_unlock_all(s->window[0]);
}

SIDE_UNUSED static void side_flush(struct side *s)
{
    MPI_Win_flush(0, s->window[0]);
}

SIDE_UNUSED static void side_put(struct side *s, size_t bytes, size_t at)
{
    MPI_Put(s->own, (int)bytes, MPI_BYTE, 0, (MPI_Aint)at, (int)bytes, MPI_BYTE, s->window[0]);
}

SIDE_UNUSED static void side_get(struct side *s, size_t bytes, size_t at)
{
    MPI_Get(s->own, (int)bytes, MPI_BYTE, 0, (MPI_Aint)at, (int)bytes, MPI_BYTE, s->window[0]);
}

#endif
