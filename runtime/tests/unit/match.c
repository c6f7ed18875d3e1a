/* Matching: posting order, wildcards against exact receives, arrival order, and thousands of each. */
#include "process/engine/deliver.h"
#include "process/engine/match.h"
#include "process/heap/heap.h"

#include "unit.h"

static struct opi_req make(uint64_t ctx, int src, int tag) {
    return (struct opi_req){.kind = OPI_R_RECV, .ctx = ctx, .src = src, .tag = tag, .any_source = src < 0, .any_tag = tag < 0};
}

static void order(void) {
    struct opi_req a = make(1, 0, 5), b = make(1, -1, 5), c = make(1, 0, 5), d = make(1, 0, -1), e = make(2, 0, 5);
    opi_post(&e);
    opi_post(&a);
    opi_post(&b);
    opi_post(&c);
    opi_post(&d);
    CHECK(opi.nposted == 5);
    CHECK(opi_match_posted(1, 0, 5) == &a);
    CHECK(opi_match_posted(1, 3, 5) == &b);
    CHECK(opi_match_posted(1, 0, 6) == &d);
    CHECK(opi_match_posted(1, 3, 6) == NULL);
    CHECK(opi_match_posted(2, 0, 5) == &e);
    opi_unpost(&a);
    CHECK(opi_match_posted(1, 0, 5) == &b); /* the wildcard was posted before c */
    opi_unpost(&b);
    CHECK(opi_match_posted(1, 0, 5) == &c);
    opi_unpost(&c);
    CHECK(opi_match_posted(1, 0, 5) == &d);
    opi_unpost(&d);
    opi_unpost(&e);
    CHECK(opi.nposted == 0 && opi_match_posted(1, 0, 5) == NULL);
}

static void arrive(uint64_t ctx, int src, int tag, int value) {
    struct opi_slot s;
    memset(&s, 0, sizeof s);
    s.ctx = ctx;
    s.tag = tag;
    memcpy(s.u.data, &value, sizeof value);
    atomic_store(&s.stamp, OPI_STAMP(0, OPI_K_INLINE, sizeof value));
    opi_add_unexpected(&s, src);
}

static int take(struct opi_req r) {
    int value;
    struct opi_umsg *m = opi_find_unexpected(&r);
    if (!m)
        return -1;
    memcpy(&value, m->env.u.data, sizeof value);
    opi_drop_unexpected(m);
    return value;
}

static void arrivals(void) {
    arrive(1, 0, 5, 10);
    arrive(1, 1, 5, 11);
    arrive(1, 0, 6, 12);
    arrive(1, 0, 5, 13);
    arrive(2, 0, 5, 14);
    CHECK(take(make(1, 0, 7)) == -1);
    CHECK(take(make(1, 0, -1)) == 10);
    CHECK(take(make(1, -1, 5)) == 11);
    CHECK(take(make(1, 0, 5)) == 13);
    CHECK(take(make(1, -1, -1)) == 12);
    CHECK(take(make(1, -1, -1)) == -1);
    CHECK(take(make(2, 0, 5)) == 14);
    CHECK(opi_unexpected_now == 0);
}

static void many(void) {
    enum { N = 20000 };
    static struct opi_req r[N];
    for (int i = 0; i < N; i++) {
        r[i] = make(1, i % 7, i / 7);
        opi_post(&r[i]);
    }
    for (int i = N - 1; i >= 0; i--) {
        CHECK(opi_match_posted(1, i % 7, i / 7) == &r[i]);
        opi_unpost(&r[i]);
    }
    for (int i = 0; i < N; i++)
        arrive(3, i % 7, i / 7, i);
    for (int i = N - 1; i >= 0; i--)
        CHECK(take(make(3, i % 7, i / 7)) == i);
    CHECK(opi_unexpected_now == 0 && opi.nposted == 0);
}

/* The envelope of a withdrawn send is skipped and its desc freed. */
static void withdrawn(void) {
    CHECK(opi_heap_init());
    struct opi_desc *d = opi_desc_new(NULL, 100, OPI_D_CANCELLED);
    struct opi_slot s;
    memset(&s, 0, sizeof s);
    s.ctx = 1;
    s.tag = 5;
    s.u.ref.ptr = d;
    atomic_store(&s.stamp, OPI_STAMP(0, OPI_K_RNDV, 0));
    opi_add_unexpected(&s, 0);
    arrive(1, 0, 5, 99);
    CHECK(take(make(1, 0, 5)) == 99);
    CHECK(opi_unexpected_now == 0);
    CHECK(opi_pool_alloc(sizeof *d) == (void *)d);
}

int main(void) {
    order();
    arrivals();
    many();
    withdrawn();
    puts("match: ok");
    return 0;
}
