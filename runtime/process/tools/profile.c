/* profile.c - OPI_PROFILE=1 prints a table when the job finalises, OPI_PROFILE=FILE.json writes the same as JSON: messages and bytes by way, copies saved,
 * pool hits, time in the library, and who sent how much to whom.  What was left to the MPI although both ranks share a node stands apart, with the reason. */
#include "process/base/error.h"
#include "process/tools/profile.h"
#include "shared/onesided/watch.h"
#include "shared/places/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *const way_names[OPI_WAYS] = {"inline", "give", "heap", "pipelined", "reference", "kernel"};

/* Why the MPI below carried a message between ranks of one node. */
enum left { LEFT_INTER, LEFT_UNSHARED, LEFT_DISABLED, LEFT_COMM, LEFT_KINDS };
static const char *const left_names[LEFT_KINDS] = {"intercommunicator", "no shared heap", "disabled", "communicator not followed"};

struct count {
    uint64_t messages, bytes;
};

/* Every field is a uint64_t: the ranks' figures are added up as one array. */
struct totals {
    struct count way[OPI_WAYS];
    struct count off_node, outside; /* outside: to a process of another MPI_COMM_WORLD */
    struct count left[LEFT_KINDS];
    struct count copies;
    uint64_t blocks, carved;
    uint64_t passed, unexpected;
    uint64_t buffered, helped, refused; /* messages by reference: copied aside while unmatched, copied by both sides, refused by the kernel */
    uint64_t calls, library_ns, waiting_ns;
    struct opiw_counts windows;
};

/* To one world rank: what libopi carried, and what the MPI below did. */
struct row {
    struct count ours, native;
};

/* What one call of the program sent, by way; the last way is the MPI below. */
#define SENDER_WAYS (OPI_WAYS + 1)
struct sender {
    void *site; /* its return address; NULL: a free entry */
    struct count way[SENDER_WAYS];
};
#define SENDERS 1024 /* a power of two; what finds no room has no line, and is counted all the same */

static struct totals now;
static struct sender *senders; /* by hash of the site */
static unsigned nsenders;
_Thread_local void *opi_profile_site;
static struct row *rows;    /* by world rank */
static int *world_of_local; /* local index -> world rank */
static const char *file;    /* NULL: the table */
static _Thread_local uint64_t entered, waited;
static _Thread_local unsigned waits; /* how many waits deep; a wait may leave and enter, so that other threads get in: one call all the same */

static uint64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void add(struct count *c, uint64_t bytes) {
    c->messages++;
    c->bytes += bytes;
}

void opi_profile_load(void) {
    const char *s = getenv("OPI_PROFILE");
    if (!s || !*s || strcmp(s, "0") == 0)
        return;
    opi.profile = true;
    if (strcmp(s, "1") != 0)
        file = s;
}

OPI_COLD void opi_profile_begin(void) {
    if (!opi.profile)
        return;
    rows = calloc((size_t)opi.world_size, sizeof *rows);
    world_of_local = malloc((size_t)opi.nlocal * sizeof *world_of_local);
    senders = calloc(SENDERS, sizeof *senders);
    if (!rows || !world_of_local || !senders)
        opi_die("no memory for OPI_PROFILE");
    world_of_local[0] = opi.world_rank;
    if (opi.node != MPI_COMM_NULL)
        PMPI_Allgather(&opi.world_rank, 1, MPI_INT, world_of_local, 1, MPI_INT, opi.node);
}

/* Counts a message for the call at work. */
static void sent_by(int way, size_t bytes) {
    if (!senders || !opi_profile_site)
        return;
    size_t i = ((uintptr_t)opi_profile_site * 0x9e3779b97f4a7c15u) >> 54; /* ten bits: SENDERS */
    while (senders[i].site && senders[i].site != opi_profile_site)
        i = (i + 1) % SENDERS;
    if (!senders[i].site) {
        if (nsenders == SENDERS / 2)
            return;
        nsenders++;
        senders[i].site = opi_profile_site;
    }
    add(&senders[i].way[way], bytes);
}

OPI_COLD void opi_profile_sent_slow(int way, int dst, size_t bytes) {
    add(&now.way[way], bytes);
    sent_by(way, bytes);
    if (rows)
        add(&rows[world_of_local[dst]].ours, bytes);
    if (way != OPI_W_GIVE && way != OPI_W_REF && way != OPI_W_KERNEL)
        add(&now.copies, bytes);
}

/* Rank `rank` of group g in the communicator's group; MPI_UNDEFINED when it is none of it. */
static int rank_in(MPI_Group g, int rank, MPI_Comm where) {
    MPI_Group other;
    int found = MPI_UNDEFINED;
    if (where == MPI_COMM_NULL || PMPI_Comm_group(where, &other) != MPI_SUCCESS)
        return found;
    PMPI_Group_translate_ranks(g, 1, &rank, other, &found);
    PMPI_Group_free(&other);
    return found;
}

OPI_COLD void opi_profile_native_slow(MPI_Comm comm, int dest, size_t count, MPI_Datatype type) {
    int size = 0, inter = 0;
    MPI_Group g;
    if (dest < 0 || PMPI_Type_size(type, &size) != MPI_SUCCESS || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return;
    if ((inter ? PMPI_Comm_remote_group(comm, &g) : PMPI_Comm_group(comm, &g)) != MPI_SUCCESS)
        return;
    size_t bytes = count * (size_t)size;
    int world = rank_in(g, dest, MPI_COMM_WORLD);
    bool near = rank_in(g, dest, opi.node) != MPI_UNDEFINED;
    PMPI_Group_free(&g);
    sent_by(OPI_WAYS, bytes);
    if (world != MPI_UNDEFINED && rows)
        add(&rows[world].native, bytes);
    if (world == MPI_UNDEFINED)
        add(&now.outside, bytes);
    else if (!near && !opi.disabled)
        add(&now.off_node, bytes);
    else
        add(&now.left[opi.disabled ? LEFT_DISABLED : !opi.node_ok ? LEFT_UNSHARED : inter ? LEFT_INTER : LEFT_COMM], bytes);
}

OPI_COLD void opi_profile_window(int kind, int way, size_t bytes) {
    struct opiw_count *c = &now.windows.of[kind][way];
    c->operations++;
    c->bytes += bytes;
}

OPI_COLD void opi_profile_copied_slow(size_t bytes) {
    add(&now.copies, bytes);
}

OPI_COLD void opi_profile_pool_slow(bool carved) {
    if (carved)
        now.carved++;
    else
        now.blocks++;
}

OPI_COLD void opi_profile_lent_slow(bool helped) {
    if (helped)
        now.helped++;
    else
        now.refused++;
}

/* Time in the library, waiting included: between the outermost enter and its leave. */
OPI_COLD void opi_profile_enter(void) {
    if (!waits)
        entered = clock_ns();
}

OPI_COLD void opi_profile_leave(void) {
    if (waits)
        return;
    now.calls++;
    now.library_ns += clock_ns() - entered;
}

OPI_COLD void opi_profile_wait_slow(bool begins) {
    if (begins) {
        if (waits++ == 0)
            waited = clock_ns();
    } else if (--waits == 0) {
        now.waiting_ns += clock_ns() - waited;
    }
}

/* ---- the report ----------------------------------------------------------------------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static struct count sum(const struct count *c, int n) {
    struct count s = {0, 0};
    for (int i = 0; i < n; i++) {
        s.messages += c[i].messages;
        s.bytes += c[i].bytes;
    }
    return s;
}

#define LLU(x) ((unsigned long long)(x))
#define MATRIX_RANKS 16 /* of the table; JSON has all */
#define TABLE_SENDERS 10

/* A sender as all ranks know it.  Every field is a uint64_t. */
struct place {
    struct opi_site site;
    struct count way[SENDER_WAYS];
};

static uint64_t bytes_of(const struct place *p) {
    return sum(p->way, SENDER_WAYS).bytes;
}

static int by_bytes(const void *a, const void *b) {
    const struct place *p = a, *q = b;
    if (bytes_of(p) != bytes_of(q))
        return bytes_of(p) < bytes_of(q) ? 1 : -1;
    if (p->site.module != q->site.module)
        return p->site.module < q->site.module ? -1 : 1;
    return p->site.offset < q->site.offset ? -1 : p->site.offset > q->site.offset;
}

/* This rank's senders as places; their number. */
static size_t own_places(struct place *places) {
    size_t n = 0;
    for (size_t i = 0; i < SENDERS; i++) {
        if (!senders[i].site || !opi_site_of(senders[i].site, &places[n].site))
            continue;
        memcpy(places[n].way, senders[i].way, sizeof places[n].way);
        n++;
    }
    return n;
}

/* Equal places become one; most bytes first.  Their number. */
static size_t merge_places(struct place *places, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && (places[k].site.module != places[i].site.module || places[k].site.offset != places[i].site.offset))
            k++;
        if (k == kept) {
            places[kept++] = places[i];
            continue;
        }
        for (int w = 0; w < SENDER_WAYS; w++) {
            places[k].way[w].messages += places[i].way[w].messages;
            places[k].way[w].bytes += places[i].way[w].bytes;
        }
    }
    qsort(places, kept, sizeof *places, by_bytes);
    return kept;
}

/* The places of all ranks on rank 0, which frees them; collective.  Without memory for them there are none. */
static struct place *gather_places(size_t *count) {
    const int width = (int)(sizeof(struct place) / sizeof(uint64_t));
    bool root = opi.world_rank == 0;
    struct place *mine = calloc(SENDERS / 2, sizeof *mine), *all = NULL;
    int n = mine ? (int)own_places(mine) * width : 0, total = 0;
    int *counts = root ? malloc(2 * (size_t)opi.world_size * sizeof *counts) : NULL, *offsets = counts ? counts + opi.world_size : NULL;
    int ok = !root || counts != NULL;
    PMPI_Bcast(&ok, 1, MPI_INT, 0, opi.all);
    *count = 0;
    if (ok)
        PMPI_Gather(&n, 1, MPI_INT, counts, 1, MPI_INT, 0, opi.all);
    for (int i = 0; ok && root && i < opi.world_size; i++) {
        offsets[i] = total;
        total += counts[i];
    }
    if (ok && root)
        all = malloc((size_t)total * sizeof(uint64_t) + 1);
    int room = ok && (!root || all != NULL);
    PMPI_Bcast(&room, 1, MPI_INT, 0, opi.all);
    if (room)
        PMPI_Gatherv(mine, n, MPI_UINT64_T, all, counts, offsets, MPI_UINT64_T, 0, opi.all);
    if (room && root)
        *count = merge_places(all, (size_t)total / (size_t)width);
    free(mine);
    free(counts);
    return all;
}

static void line(const char *what, struct count c) {
    fprintf(stderr, "libopi:   %-28s %12llu messages %16llu bytes\n", what, LLU(c.messages), LLU(c.bytes));
}

static void print_table(const struct totals *t, const struct row *all, int n, const struct place *places, size_t nplaces) {
    struct count ours = sum(t->way, OPI_WAYS), left = sum(t->left, LEFT_KINDS);
    fprintf(stderr, "libopi: profile of %d ranks\n", n);
    for (int i = 0; i < OPI_WAYS; i++)
        line(way_names[i], t->way[i]);
    line("on node, all", ours);
    line("on node, left to the MPI", left);
    for (int i = 0; i < LEFT_KINDS; i++)
        if (t->left[i].messages)
            line(left_names[i], t->left[i]);
    line("other nodes, by the MPI", t->off_node);
    if (t->outside.messages)
        line("other jobs, by the MPI", t->outside);
    uint64_t two = 2 * ours.messages;
    fprintf(stderr, "libopi: copies %llu of %llu that two a message would be: %llu saved (%.1f %%), %llu bytes not copied; %llu buffers passed\n",
            LLU(t->copies.messages), LLU(two), LLU(two > t->copies.messages ? two - t->copies.messages : 0),
            two > t->copies.messages ? percent(two - t->copies.messages, two) : 0.0,
            LLU(2 * ours.bytes > t->copies.bytes ? 2 * ours.bytes - t->copies.bytes : 0), LLU(t->passed));
    fprintf(stderr, "libopi: by reference: %llu copied by both sides, %llu copied aside while nobody asked, %llu refused by the kernel\n", LLU(t->helped),
            LLU(t->buffered), LLU(t->refused));
    fprintf(stderr, "libopi: pool: %llu blocks, %llu from new memory, %.1f %% hits; %llu messages came unexpected\n", LLU(t->blocks), LLU(t->carved),
            percent(t->blocks > t->carved ? t->blocks - t->carved : 0, t->blocks), LLU(t->unexpected));
    fprintf(stderr, "libopi: %llu calls, %.6f s in the library, %.6f s of it waiting (all ranks)\n", LLU(t->calls), (double)t->library_ns * 1e-9,
            (double)t->waiting_ns * 1e-9);
    opiw_table(&t->windows);
    for (size_t i = 0; i < nplaces && i < TABLE_SENDERS; i++) {
        char text[512];
        struct count c = sum(places[i].way, SENDER_WAYS);
        opi_site_text(&places[i].site, text, sizeof text);
        fprintf(stderr, "libopi: sent at %s: %llu messages, %llu bytes\n", text, LLU(c.messages), LLU(c.bytes));
    }
    if (n > MATRIX_RANKS)
        return;
    fprintf(stderr, "libopi: messages from (row) to (column), +N left to the MPI\n");
    for (int i = 0; i < n; i++) {
        char text[MATRIX_RANKS * 40 + 32];
        int at = snprintf(text, sizeof text, "libopi: %5d", i);
        for (int j = 0; j < n; j++) {
            const struct row *r = &all[(size_t)i * (size_t)n + (size_t)j];
            at += snprintf(text + at, sizeof text - (size_t)at, " %9llu", LLU(r->ours.messages));
            if (r->native.messages)
                at += snprintf(text + at, sizeof text - (size_t)at, "+%llu", LLU(r->native.messages));
        }
        fprintf(stderr, "%s\n", text);
    }
}

static void json_count(FILE *f, const char *name, struct count c, const char *after) {
    fprintf(f, "\"%s\": {\"messages\": %llu, \"bytes\": %llu}%s", name, LLU(c.messages), LLU(c.bytes), after);
}

static void write_senders(FILE *f, const struct place *places, size_t n) {
    fprintf(f, ",\n \"sites\": [");
    for (size_t i = 0; i < n; i++) {
        char text[512];
        opi_site_text(&places[i].site, text, sizeof text);
        for (char *c = text; *c; c++) /* a file's name is its own: what JSON would not carry as it is becomes an underscore */
            if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\')
                *c = '_';
        fprintf(f, "%s\n  {\"at\": \"%s\"", i ? "," : "", text);
        for (int w = 0; w < SENDER_WAYS; w++)
            if (places[i].way[w].messages) {
                fprintf(f, ", ");
                json_count(f, w < OPI_WAYS ? way_names[w] : "mpi", places[i].way[w], "");
            }
        fprintf(f, "}");
    }
    fprintf(f, "]");
}

static void write_json(FILE *f, const struct totals *t, const struct row *all, int n, const struct place *places, size_t nplaces) {
    struct count ours = sum(t->way, OPI_WAYS), left = sum(t->left, LEFT_KINDS);
    fprintf(f, "{\"version\": 1,\n \"ranks\": %d,\n \"on_node\": {", n);
    json_count(f, "all", ours, ",\n  ");
    for (int i = 0; i < OPI_WAYS; i++)
        json_count(f, way_names[i], t->way[i], i + 1 < OPI_WAYS ? ",\n  " : "},\n ");
    fprintf(f, "\"left_to_mpi\": {");
    json_count(f, "all", left, ",\n  ");
    for (int i = 0; i < LEFT_KINDS; i++)
        json_count(f, left_names[i], t->left[i], i + 1 < LEFT_KINDS ? ",\n  " : "},\n ");
    json_count(f, "off_node", t->off_node, ",\n ");
    json_count(f, "outside", t->outside, ",\n ");
    fprintf(f, "\"copies\": {\"made\": %llu, \"made_bytes\": %llu, \"saved\": %lld, \"saved_bytes\": %lld, \"buffers_passed\": %llu},\n ",
            LLU(t->copies.messages), LLU(t->copies.bytes), (long long)(2 * ours.messages - t->copies.messages),
            (long long)(2 * ours.bytes - t->copies.bytes), LLU(t->passed));
    fprintf(f, "\"by_reference\": {\"both_sides\": %llu, \"copied_aside\": %llu, \"refused\": %llu},\n ", LLU(t->helped), LLU(t->buffered), LLU(t->refused));
    fprintf(f, "\"pool\": {\"blocks\": %llu, \"new\": %llu},\n \"unexpected\": %llu,\n ", LLU(t->blocks), LLU(t->carved), LLU(t->unexpected));
    opiw_json(f, &t->windows);
    fprintf(f, ",\n ");
    fprintf(f, "\"time\": {\"calls\": %llu, \"library_s\": %.9f, \"waiting_s\": %.9f},\n \"matrix\": [", LLU(t->calls), (double)t->library_ns * 1e-9,
            (double)t->waiting_ns * 1e-9);
    bool first = true;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const struct row *r = &all[(size_t)i * (size_t)n + (size_t)j];
            if (!r->ours.messages && !r->native.messages)
                continue;
            fprintf(f, "%s\n  {\"from\": %d, \"to\": %d, ", first ? "" : ",", i, j);
            json_count(f, "on_node", r->ours, ", ");
            json_count(f, "mpi", r->native, "}");
            first = false;
        }
    }
    fprintf(f, "]");
    write_senders(f, places, nplaces);
    fprintf(f, "}\n");
}

OPI_COLD void opi_profile_finish(void) {
    if (!opi.profile)
        return;
    opi.profile = false; /* what follows is not the program's */
    now.passed = opi.stat.passed;
    now.unexpected = opi.stat.unexpected;
    now.buffered = opi.stat.buffered_msgs;
    struct totals all;
    size_t nplaces = 0;
    struct place *places = gather_places(&nplaces);
    int n = opi.world_size, mine = opi.world_rank;
    struct row *matrix = mine == 0 ? malloc((size_t)n * (size_t)n * sizeof *matrix) : NULL;
    int ok = mine != 0 || matrix != NULL;
    PMPI_Reduce(&now, &all, (int)(sizeof now / sizeof(uint64_t)), MPI_UINT64_T, MPI_SUM, 0, opi.all);
    PMPI_Bcast(&ok, 1, MPI_INT, 0, opi.all);
    if (ok)
        PMPI_Gather(rows, n * (int)(sizeof *rows / sizeof(uint64_t)), MPI_UINT64_T, matrix, n * (int)(sizeof *rows / sizeof(uint64_t)), MPI_UINT64_T, 0,
                    opi.all);
    if (mine == 0 && !ok)
        opi_say("no memory for the profile of %d ranks", n);
    if (mine == 0 && ok && file) {
        FILE *f = fopen(file, "w");
        if (f)
            write_json(f, &all, matrix, n, places, nplaces);
        if (!f || fclose(f) != 0)
            opi_say("OPI_PROFILE=%s: cannot be written", file);
    } else if (mine == 0 && ok) {
        print_table(&all, matrix, n, places, nplaces);
    }
    free(places);
    free(senders);
    senders = NULL;
    free(matrix);
    free(rows);
    free(world_of_local);
    rows = NULL;
    world_of_local = NULL;
}
