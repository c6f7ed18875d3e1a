/*
 * Windows whose ranks are in several processes: what is changed by all of them at once, how memory lies, what is left when a window is freed, what there is no
 * memory for. With the argument "nodes" only what ranks on several nodes cannot have; with
 * "allocated" what needs no copy by the kernel. No variable is static but the count of failures.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nanosleep */
#endif
#include <stdbool.h>
#include <time.h>

#include "../mpi/check.h"

#define ROUNDS 100
#define WORDS 20000 /* more than one copy by the kernel takes in */

struct rank {
    int me, size;
};

/* All change one word of each member's: sums lose nothing, each number is fetched once, and what an exclusive lock guards is a sum, too. */
static void contended(const struct rank *r, MPI_Win win, long *mine)
{
    long one = 1, got, *seen = calloc((size_t)r->size * ROUNDS, sizeof *seen), last = r->size * (long)ROUNDS;
    for (int i = 0; i < 4; i++)
        mine[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < ROUNDS; k++)
        for (int to = 0; to < r->size; to++) {
            MPI_Win_lock(k % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, win);
            MPI_Accumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win);
            MPI_Fetch_and_op(&one, &got, MPI_LONG, to, 1, MPI_SUM, win);
            MPI_Win_unlock(to, win);
            if (to == 0)
                seen[k] = got;
            if (k % 10)
                continue;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
            MPI_Get(&got, 1, MPI_LONG, to, 2, 1, MPI_LONG, win);
            MPI_Win_flush(to, win);
            got++;
            MPI_Put(&got, 1, MPI_LONG, to, 2, 1, MPI_LONG, win);
            MPI_Win_unlock(to, win);
        }
    for (int k = 1; k < ROUNDS; k++)
        CHECK(seen[k] > seen[k - 1] && seen[k] < last);
    free(seen);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, r->me, 0, win);
    CHECK(mine[0] == last && mine[1] == last && mine[2] == last / 10);
    MPI_Win_unlock(r->me, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A turn is handed round by MPI_Compare_and_swap: who has it is the only one that swaps. */
static void turns(const struct rank *r, MPI_Win win, long *mine)
{
    long next = (r->me + 1) % r->size, me = r->me, was;
    mine[3] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int k = 0; k < 5; k++)
        do {
            MPI_Compare_and_swap(&next, &me, &was, MPI_LONG, r->size - 1, 3, win);
            MPI_Win_flush(r->size - 1, win);
        } while (was != me || r->size == 1);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (r->me == r->size - 1)
        CHECK(mine[3] == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What the kernel copies: large, with gaps on both sides, to and from every other member. */
static void large(const struct rank *r, MPI_Win win, const long *mine)
{
    long *out = malloc(WORDS * sizeof *out), *in = calloc(WORDS, sizeof *in);
    int right = (r->me + 1) % r->size, left = (r->me + r->size - 1) % r->size, wrong = 0;
    MPI_Datatype odd;
    MPI_Type_vector(WORDS / 2, 1, 2, MPI_LONG, &odd);
    MPI_Type_commit(&odd);
    for (int i = 0; i < WORDS; i++)
        out[i] = r->me * 1000000L + i;
    MPI_Win_fence(0, win);
    MPI_Put(out, WORDS, MPI_LONG, right, 0, WORDS, MPI_LONG, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < WORDS; i++)
        wrong += mine[i] != left * 1000000L + i;
    MPI_Get(in, 1, odd, right, 1, 1, odd, win); /* words 1, 3, 5, ... to 0, 2, 4, ... */
    MPI_Win_fence(0, win);
    for (int i = 0; i < WORDS; i++)
        wrong += in[i] != (i % 2 ? 0 : r->me * 1000000L + i + 1);
    MPI_Accumulate(out, WORDS, MPI_LONG, right, 0, WORDS, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < WORDS; i++)
        wrong += mine[i] != 2 * (left * 1000000L + i);
    CHECK(wrong == 0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Type_free(&odd);
    free(out);
    free(in);
}

/* Parts of MPI_Win_allocate_shared follow each other, or, where the program allows it, need not. */
static void parts(const struct rank *r, bool apart)
{
    long *mine, *its, *next = NULL;
    MPI_Aint bytes;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Win win;
    int unit, words = r->me % 3 ? 1000 + r->me : 0;
    if (apart) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    }
    MPI_Win_allocate_shared(words * (MPI_Aint)sizeof *mine, sizeof *mine, info, MPI_COMM_WORLD, &mine, &win);
    if (apart)
        MPI_Info_free(&info);
    MPI_Win_fence(0, win);
    for (int i = 0; i < words; i++)
        mine[i] = r->me + i;
    MPI_Win_fence(0, win);
    for (int k = 0; k < r->size; k++) {
        CHECK(MPI_Win_shared_query(win, k, &bytes, &unit, &its) == MPI_SUCCESS);
        CHECK(bytes == (k % 3 ? 1000 + k : 0) * (MPI_Aint)sizeof *its && unit == sizeof *its);
        if (!bytes)
            continue;
        CHECK(apart || !next || its == next);
        next = its + bytes / (MPI_Aint)sizeof *its;
        for (int i = 0; i < bytes / (MPI_Aint)sizeof *its; i++)
            CHECK(its[i] == k + i);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
}

/* What rank 1 has written is read by rank 0, who has heard of it from the last rank alone: by the end of an epoch, and by a post. */
static void passed_on(const struct rank *r)
{
    int last = r->size - 1, unit, wrong = 0, none = 0;
    long *mine, *its;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Group all, one;
    MPI_Win_allocate_shared(1000 * (MPI_Aint)sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 1, &bytes, &unit, &its);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int k = 1; k <= 3; k++) {
        if (r->me == 1) {
            for (int i = 0; i < 1000; i++)
                its[i] = k * i;
            MPI_Group_incl(all, 1, &last, &one);
            MPI_Win_start(one, 0, win);
            MPI_Win_complete(win);
            MPI_Group_free(&one);
            MPI_Recv(&none, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (r->me == last) {
            for (int from = 1; from >= 0; from--) {
                MPI_Group_incl(all, 1, &from, &one);
                MPI_Win_post(one, 0, win);
                MPI_Win_wait(win);
                MPI_Group_free(&one);
            }
            MPI_Send(&none, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else if (r->me == 0) {
            MPI_Group_incl(all, 1, &last, &one);
            MPI_Win_start(one, 0, win);
            for (int i = 0; i < 1000; i++)
                wrong += its[i] != k * i;
            MPI_Win_complete(win);
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* rank 1 goes on without a lock that rank 0 has had since */
            MPI_Group_free(&one);
        }
    }
    CHECK(wrong == 0);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
}

/* What a window leaves mapped in this process: all who look do so between two barriers. */
static int left_mapped(void)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        n += strstr(line, "opi-window") != NULL;
    if (f)
        fclose(f);
    return n;
}

/* Windows of some of the ranks, in another order, several at once; one is freed while what was put in it is kept at its origin. */
static void many(const struct rank *r)
{
    MPI_Comm some;
    MPI_Win win[8];
    long *mine[8], private[8], v = 77;
    MPI_Comm_split(MPI_COMM_WORLD, r->me == 1 && r->size > 2 ? 1 : 0, r->size - r->me, &some);
    int rank, size;
    MPI_Comm_rank(some, &rank);
    MPI_Comm_size(some, &size);
    for (int i = 0; i < 8; i += 2) {
        MPI_Win_allocate(sizeof(long), 1, MPI_INFO_NULL, some, &mine[i], &win[i]);
        MPI_Win_create(&private[i + 1], sizeof(long), 1, MPI_INFO_NULL, some, &win[i + 1]);
        mine[i + 1] = &private[i + 1];
    }
    for (int i = 0; i < 8; i++) {
        MPI_Win_fence(0, win[i]);
        *mine[i] = -1;
        MPI_Win_fence(0, win[i]);
        MPI_Put(&v, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win[i]);
    }
    for (int i = 7; i >= 0; i--) {
        if (i % 4)
            MPI_Win_fence(MPI_MODE_NOSUCCEED, win[i]);
        if (i % 4)
            CHECK(*mine[i] == 77);
        MPI_Win_free(&win[i]);
        CHECK(i % 2 == 0 || private[i] == 77);
    }
    MPI_Comm_free(&some);
}

static void no_memory(void)
{
    char *p;
    MPI_Win win;
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_allocate((MPI_Aint)1 << 62, 1, MPI_INFO_NULL, own, &p, &win), MPI_ERR_NO_MEM);
    MPI_Comm_free(&own);
}

static void on_nodes(void)
{
    char *p;
    MPI_Win win;
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, own, &p, &win), MPI_ERR_RMA_SHARED);
    MPI_Comm_free(&own);
}

static void allocated(const struct rank *r)
{
    long *owned;
    MPI_Win win;
    MPI_Win_allocate(WORDS * sizeof *owned, sizeof *owned, MPI_INFO_NULL, MPI_COMM_WORLD, &owned, &win);
    contended(r, win, owned);
    if (r->size > 1)
        turns(r, win, owned);
    large(r, win, owned);
    MPI_Win_free(&win);
    parts(r, false);
    parts(r, true);
    if (r->size > 2)
        passed_on(r);
}

static void all(const struct rank *r)
{
    long *mine = calloc(WORDS, sizeof *mine);
    MPI_Win win;
    MPI_Win_create(mine, WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    contended(r, win, mine);
    if (r->size > 1)
        turns(r, win, mine);
    large(r, win, mine);
    MPI_Win_free(&win);
    free(mine);
    allocated(r);
    for (int k = 0; k < 3; k++)
        many(r);
    no_memory();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(left_mapped() == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct rank r;
    int sum, own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.me);
    MPI_Comm_size(MPI_COMM_WORLD, &r.size);
    if (argc > 1 && strcmp(argv[1], "nodes") == 0)
        on_nodes();
    else if (argc > 1)
        allocated(&r);
    else
        all(&r);
    own = failures;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (r.me == 0) {
        printf("divided: %s, %d failures\n", sum ? "FAILED" : "ok", sum);
        fflush(stdout);
    }
    MPI_Finalize();
    return sum != 0;
}
