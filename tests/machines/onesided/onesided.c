/*
 * Random one-sided programs. Each rank draws the same plan (plan.h) and does its part of it; rank 0 judges every outcome
 * (model.h). Several windows of all kinds at once, of all ranks or all but one, each with a synchronisation of its own
 * in each step; all operations and their request forms, completed together with messages in every way; the forms with
 * large counts, where the MPI has them; layouts with gaps and backwards; displacement units; infos; MPI_PROC_NULL;
 * loads and stores of shared windows by others; memory attached in parts.
 *
 *   onesided [programs [first seed [kinds of windows, a bit each]]]
 *
 * No variable is static and changes: ranks may be threads.
 */
#include "calls.h"
#include "model.h"

#define GUARD 0xa5

struct window {
    MPI_Win win;
    MPI_Comm comm;
    MPI_Datatype type;
    char *memory;  /* of this rank */
    void *release; /* by free or MPI_Free_mem */
    MPI_Aint base[MOST_RANKS]; /* DYNAMIC: addresses; else 0 */
    char *near[MOST_RANKS];    /* SHARED: each member's memory, as this rank reaches it */
};

struct rank {
    struct plan *plan;
    int me, wrong;
    struct window window[MOST_WINDOWS];
    char *memory[MOST_OPS], *result[MOST_OPS]; /* of the origin, until the step ends */
    MPI_Request request[MOST_OPS + 2];
    int requests, came, sent;
};

/* The rank of a member in the window's communicator. */
static int number_in(const struct rank *r, int w, int rank)
{
    const struct window_plan *q = &r->plan->window[w];
    int number = 0;

    for (int i = 0; i < r->plan->ranks; i++)
        number += q->member[i] && (q->reversed ? i > rank : i < rank);
    return number;
}

static MPI_Info info_of(const struct window_plan *q)
{
    MPI_Info info;

    if (q->hint < 1 || q->hint > 3)
        return MPI_INFO_NULL;
    MPI_Info_create(&info);
    if (q->hint == 1) /* at one time there are only operations of one kind on a cell, and MPI_NO_OP */
        MPI_Info_set(info, "accumulate_ops", "same_op_no_op");
    else if (q->hint == 2)
        MPI_Info_set(info, "accumulate_ordering", "rar,raw,war,waw");
    else
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    return info;
}

/* Where the members' parts lie, as MPI tells. Open MPI 5.0.11 rounds their sizes up, with hint 3. */
static void query(struct rank *r, int w)
{
    const struct window_plan *q = &r->plan->window[w];
    struct window *v = &r->window[w];
    MPI_Aint size;

    for (int t = 0; t < r->plan->ranks; t++) {
        if (!q->member[t])
            continue;
        int unit, number = number_in(r, w, t);
        MPI_Win_shared_query(v->win, number, &size, &unit, &v->near[t]);
        int wrong = size < CELLS * element_size[q->element] || unit != q->unit[t] ||
                    (t == r->me && v->near[t] != v->memory);
#if MPI_VERSION >= 4
        MPI_Aint large;
        char *same;
        MPI_Win_shared_query_c(v->win, number, &size, &large, &same);
        wrong |= large != unit || same != v->near[t] || size < CELLS * element_size[q->element];
#endif
        if (wrong)
            printf("seed %d, window %d: MPI_Win_shared_query of member %d\n", r->plan->seed, w, t);
        r->wrong += wrong;
    }
}

/* Attached in two parts, of whole blocks. */
static void attach(struct window *v, MPI_Aint bytes)
{
    MPI_Win_create_dynamic(MPI_INFO_NULL, v->comm, &v->win);
    v->memory = v->release = malloc((size_t)bytes);
    MPI_Win_attach(v->win, v->memory, bytes / 2);
    MPI_Win_attach(v->win, v->memory + bytes / 2, bytes / 2);
}

static void make_window(struct rank *r, int w)
{
    const struct window_plan *q = &r->plan->window[w];
    struct window *v = &r->window[w];
    MPI_Aint bytes = CELLS * element_size[q->element], mine = 0;
    MPI_Datatype types[ELEMENTS] = {MPI_UINT8_T, MPI_UINT32_T, MPI_UINT64_T, MPI_DOUBLE};
    int member = q->member[r->me], unit = q->unit[r->me];
    MPI_Info info = info_of(q);

    memset(v, 0, sizeof *v);
    v->type = types[q->element];
    MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, number_in(r, w, r->me), &v->comm);
    if (member)
        switch (q->flavor) {
        case CREATE:
        case CREATE_ALLOC_MEM:
            if (q->flavor == CREATE)
                v->release = malloc((size_t)bytes);
            else
                MPI_Alloc_mem(bytes, MPI_INFO_NULL, &v->release);
            v->memory = v->release;
            EITHER(q->large, MPI_Win_create, v->memory, bytes, unit, info, v->comm, &v->win);
            break;
        case ALLOCATE: EITHER(q->large, MPI_Win_allocate, bytes, unit, info, v->comm, &v->memory, &v->win); break;
        case SHARED:
            EITHER(q->large, MPI_Win_allocate_shared, bytes, unit, info, v->comm, &v->memory, &v->win);
            query(r, w);
            break;
        default: attach(v, bytes); break;
        }
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (q->flavor == DYNAMIC) {
        if (member)
            MPI_Get_address(v->memory, &mine);
        MPI_Allgather(&mine, 1, MPI_AINT, v->base, 1, MPI_AINT, MPI_COMM_WORLD);
    }
}

static void free_window(struct rank *r, int w)
{
    struct window *v = &r->window[w];

    if (!r->plan->window[w].member[r->me])
        return;
    if (r->plan->window[w].flavor == DYNAMIC) {
        MPI_Win_detach(v->win, v->memory + CELLS * element_size[r->plan->window[w].element] / 2);
        MPI_Win_detach(v->win, v->memory);
    }
    MPI_Win_free(&v->win);
    MPI_Comm_free(&v->comm);
    if (r->plan->window[w].flavor == CREATE_ALLOC_MEM)
        MPI_Free_mem(v->release);
    else
        free(v->release);
}

/* The group of the window's ranks that may reach this one, or that this one may reach. */
static MPI_Group group_of(const struct rank *r, int w, int origins)
{
    const struct plan *p = r->plan;
    int list[MOST_RANKS], n = 0;
    MPI_Group all, some;

    for (int i = 0; i < p->ranks; i++)
        if (origins ? p->step.reach[w][i][r->me] : p->step.reach[w][r->me][i])
            list[n++] = number_in(r, w, i);
    MPI_Win_get_group(r->window[w].win, &all);
    MPI_Group_incl(all, n, list, &some);
    MPI_Group_free(&all);
    return some;
}

static void begin(struct rank *r, int w)
{
    struct window *v = &r->window[w];

    if (!r->plan->window[w].member[r->me])
        return;
    if (r->plan->step.sync[w] == FENCE)
        MPI_Win_fence(r->plan->step.nops % 2 ? MPI_MODE_NOPRECEDE : 0, v->win);
    else if (r->plan->step.sync[w] == LOCK_ALL)
        MPI_Win_lock_all(r->plan->step.nops % 2 ? MPI_MODE_NOCHECK : 0, v->win);
    else if (r->plan->step.sync[w] == PSCW) {
        MPI_Group from = group_of(r, w, 1), to = group_of(r, w, 0);
        MPI_Win_post(from, 0, v->win);
        MPI_Win_start(to, 0, v->win);
        MPI_Group_free(&from);
        MPI_Group_free(&to);
    }
}

static void end(struct rank *r, int w)
{
    struct window *v = &r->window[w];

    if (!r->plan->window[w].member[r->me])
        return;
    if (r->plan->step.sync[w] == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, v->win);
    else if (r->plan->step.sync[w] == LOCK_ALL)
        MPI_Win_unlock_all(v->win);
    else if (r->plan->step.sync[w] == PSCW) {
        int done = 0;
        MPI_Win_complete(v->win);
        if (r->plan->step.nops % 2)
            MPI_Win_wait(v->win);
        else
            while (!done)
                MPI_Win_test(v->win, &done);
    }
}

static char *guarded(size_t bytes)
{
    char *at = malloc(bytes);

    memset(at, GUARD, bytes);
    return at;
}

static void call_op(struct rank *r, int k)
{
    const struct op *op = &r->plan->step.op[k];
    struct window *v = &r->window[op->window];
    const struct window_plan *q = &r->plan->window[op->window];
    int size = element_size[q->element], target = op->null ? MPI_PROC_NULL : number_in(r, op->window, op->target);
    int first = op->layout == 2 ? op->block * BLOCK : op->cell[0];
    MPI_Aint at = v->base[op->target] + (MPI_Aint)first * size / q->unit[op->target];

    if (op->kind == DO_CAS)
        store(q->element, r->memory[k] + 2 * size, r->plan->before[op->window][op->target][op->cell[0]]);
    call(op, operation_of(mode_of(r->plan, op), op), v->type, size, target, at, v->win, r->memory[k], r->result[k],
         &r->request[r->requests]);
    r->requests += op->request;
}

static void complete_requests(struct rank *r)
{
    complete(r->requests, r->request, r->plan->step.nops + r->me);
    r->requests = 0;
}

static void do_op(struct rank *r, int k)
{
    const struct op *op = &r->plan->step.op[k];
    const struct window_plan *q = &r->plan->window[op->window];
    MPI_Win win = r->window[op->window].win;
    int target = number_in(r, op->window, op->target), alone = mode_of(r->plan, op) == OWN;
    size_t size = (size_t)element_size[q->element], room = size * (2 * BLOCK + 4);

    r->memory[k] = guarded(room);
    r->result[k] = guarded(room);
    for (int i = 0; i < op->n; i++)
        store(q->element, r->memory[k] + size * (size_t)(i * (op->gaps && op->kind < DO_FETCH ? 2 : 1)), op->value[i]);
    if (r->plan->step.sync[op->window] == LOCK) {
        MPI_Win_lock(k % 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
        call_op(r, k);
        if (k % 2)
            MPI_Win_flush(target, win);
        if (alone || k % 4 == 0)
            complete_requests(r);
        MPI_Win_unlock(target, win);
    } else {
        call_op(r, k);
        if (r->plan->step.sync[op->window] == LOCK_ALL) {
            if (alone || k % 4 == 0)
                MPI_Win_flush(target, win);
            else if (k % 4 == 1)
                MPI_Win_flush_all(win);
            else if (k % 8 == 2)
                MPI_Win_flush_local(target, win);
            else if (k % 8 == 6)
                MPI_Win_flush_local_all(win);
            if (alone || k % 3 == 0)
                complete_requests(r);
        }
    }
}

/* What the operation fetched; that nothing else was written. */
static void collect(struct rank *r, int k)
{
    const struct op *op = &r->plan->step.op[k];
    enum element e = r->plan->window[op->window].element;
    size_t size = (size_t)element_size[e], room = size * (2 * BLOCK + 4);
    size_t stride = size * (op->gaps && op->kind < DO_FETCH ? 2 : 1);

    if (fetches(op) && !op->null)
        for (int i = 0; i < op->n; i++) {
            char *at = r->result[k] + stride * (size_t)i;
            r->plan->fetched[k][i] = load(e, at);
            memset(at, GUARD, size);
        }
    for (size_t i = 0; i < room; i++)
        if ((unsigned char)r->result[k][i] != GUARD) {
            printf("seed %d, step %d: %s wrote beside its result, byte %zu\n", r->plan->seed, r->plan->number,
                   kind_name[op->kind], i);
            r->wrong++;
            break;
        }
    free(r->memory[k]);
    free(r->result[k]);
}

/* Who reads and writes a member's part by loads and stores: of shared windows the next member, else itself. */
static int keeper(const struct rank *r, int w, int t)
{
    const struct window_plan *q = &r->plan->window[w];

    if (q->flavor == SHARED)
        do
            t = (t + 1) % r->plan->ranks;
        while (!q->member[t]);
    return t;
}

static void cells_of(struct rank *r, int w, int t, uint64_t *cells, int write)
{
    enum element e = r->plan->window[w].element;
    MPI_Win win = r->window[w].win;
    char *at = t == r->me ? r->window[w].memory : r->window[w].near[t];

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, number_in(r, w, t), 0, win);
    MPI_Win_sync(win);
    for (int i = 0; i < CELLS; i++)
        if (write)
            store(e, at + i * element_size[e], cells[i]);
        else
            cells[i] = load(e, at + i * element_size[e]);
    MPI_Win_sync(win);
    MPI_Win_unlock(number_in(r, w, t), win);
}

/* All that the windows have, on every rank. */
static void share(struct rank *r, uint64_t all[MOST_WINDOWS][MOST_RANKS][CELLS])
{
    struct plan *p = r->plan;
    uint64_t mine[CELLS] = {0}, kept[CELLS];

    for (int w = 0; w < p->windows; w++) {
        if (p->window[w].member[r->me])
            cells_of(r, w, r->me, mine, 0);
        MPI_Allgather(mine, CELLS, MPI_UINT64_T, all[w], CELLS, MPI_UINT64_T, MPI_COMM_WORLD);
        for (int t = 0; t < p->ranks; t++) {
            if (!p->window[w].member[t] || t == r->me || keeper(r, w, t) != r->me)
                continue;
            cells_of(r, w, t, kept, 0);
            if (memcmp(kept, all[w][t], sizeof kept) != 0) {
                printf("seed %d, step %d, window %d: rank %d sees other values of %d\n", p->seed, p->number, w, r->me,
                       t);
                r->wrong++;
            }
        }
    }
}

/* New values by stores: for doubles in every step, so that their sums stay exact. */
static void renew(struct rank *r)
{
    struct plan *p = r->plan;

    for (int w = 0; w < p->windows; w++) {
        enum element e = p->window[w].element;
        if (p->number > 0 && e != F64 && draw(p, 2))
            continue;
        for (int t = 0; t < p->ranks; t++) {
            for (int i = 0; i < CELLS; i++)
                p->before[w][t][i] = draw_value(p, e);
            if (p->window[w].member[t] && keeper(r, w, t) == r->me)
                cells_of(r, w, t, p->before[w][t], 1);
        }
    }
}

static void do_step(struct rank *r)
{
    struct plan *p = r->plan;
    int next = (r->me + 1) % p->ranks, last = (r->me + p->ranks - 1) % p->ranks;

    renew(r);
    draw_step(p);
    memset(p->fetched, 0, sizeof p->fetched);
    MPI_Barrier(MPI_COMM_WORLD);
    r->sent = p->seed * 100 + p->number + r->me;
    MPI_Irecv(&r->came, 1, MPI_INT, last, 7, MPI_COMM_WORLD, &r->request[r->requests++]);
    MPI_Isend(&r->sent, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &r->request[r->requests++]);
    for (int w = 0; w < p->windows; w++)
        begin(r, w);
    for (int k = 0; k < p->step.nops; k++)
        if (p->step.op[k].origin == r->me)
            do_op(r, k);
    complete_requests(r);
    for (int w = 0; w < p->windows; w++)
        end(r, w);
    MPI_Barrier(MPI_COMM_WORLD);
    if (r->came != p->seed * 100 + p->number + last) {
        printf("seed %d, step %d: the message of rank %d: %d\n", p->seed, p->number, last, r->came);
        r->wrong++;
    }
    for (int k = 0; k < p->step.nops; k++)
        if (p->step.op[k].origin == r->me)
            collect(r, k);
    MPI_Allreduce(MPI_IN_PLACE, p->fetched, MOST_OPS * BLOCK, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD);
    share(r, p->after);
    if (r->me == 0)
        r->wrong += check_step(p);
    memcpy(p->before, p->after, sizeof p->before);
}

int main(int argc, char **argv)
{
    struct rank *r = calloc(1, sizeof *r);
    struct plan *p = r->plan = calloc(1, sizeof *p);
    int wrong;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->me);
    MPI_Comm_size(MPI_COMM_WORLD, &p->ranks);
    int programs = argc > 1 ? atoi(argv[1]) : 20, first = argc > 2 ? atoi(argv[2]) : 1;
    int flavors = argc > 3 ? atoi(argv[3]) : (1 << FLAVORS) - 1;
    if (p->ranks > MOST_RANKS || (flavors & ((1 << FLAVORS) - 1)) == 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (p->seed = first; p->seed < first + programs; p->seed++) {
        p->random = (uint64_t)p->seed * 0x9e3779b97f4a7c15ull + (uint64_t)p->ranks + 1;
        draw_windows(p, flavors);
        int steps = 1 + draw(p, 4);
        for (int w = 0; w < p->windows; w++)
            make_window(r, w);
        for (p->number = 0; p->number < steps; p->number++)
            do_step(r);
        for (int w = 0; w < p->windows; w++)
            free_window(r, w);
    }
    MPI_Allreduce(&r->wrong, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (r->me == 0)
        printf("onesided: %s, %d failures\n", wrong ? "wrong" : "ok", wrong);
    free(p);
    free(r);
    MPI_Finalize();
    return wrong != 0;
}
