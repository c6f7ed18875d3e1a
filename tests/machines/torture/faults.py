"""Faults to plant into a copy of libopi: does random traffic, with its model of MPI's matching, see each of them?

A fault replaces a few lines of one or two sources by ones that break a promise of MPI. `judge.py` builds and runs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class PlantError(Exception):
    """A fault's lines are not in the source, or not once: the table is after the runtime."""


@dataclass(frozen=True, slots=True)
class Edit:
    """In this source of libopi (a path below runtime/process), `old`, which stands there once, becomes `new`."""

    source: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A promise of MPI, broken by some edits; no edits: nothing is broken, and nothing may be found."""

    name: str
    promise: str
    edits: tuple[Edit, ...]
    ranks: int = 3
    environment: tuple[tuple[str, str], ...] = ()
    breaks: bool = True
    """False: the edits only move something, so that traffic has to find nothing."""


def planted(fault: Fault, sources: Path) -> Mapping[str, str]:
    """The sources that the fault changes, and their new text. Raises PlantError."""
    texts: dict[str, str] = {}
    for edit in fault.edits:
        text = texts.get(edit.source) or (sources / edit.source).read_text(encoding="utf-8")
        if text.count(edit.old) != 1:
            raise PlantError(f"{fault.name}: {edit.source} has its lines {text.count(edit.old)} times")
        texts[edit.source] = text.replace(edit.old, edit.new)
    return texts


REFERENCE = (("OPI_EAGER_LIMIT", "256"), ("OPI_INLINE_LIMIT", "0"), ("OPI_KERNEL_MIN", "1k"), ("OPI_CO_MIN", "8k"))
"""Messages of a few hundred bytes travel by reference, larger ones are copied by both sides."""
PIPED = (("OPI_INLINE_LIMIT", "0"), ("OPI_EAGER_LIMIT", "16m"), ("OPI_PIPE_MIN", "1k"))
NODES = (("OPI_NODE_RANKS", "1"), ("TRAFFIC_CAREFUL", "1"))

SMALL_RING = Edit(
    "base/tune.c", "opi.ring_slots = opi.nlocal <= 32 ? 128 :", "opi.ring_slots = opi.nlocal <= 32 ? 16 :"
)

CONTROLS = (
    Fault("nothing", "nothing is broken", (), breaks=False),
    Fault("small-ring", "nothing is broken, but rings have 16 slots", (SMALL_RING,), breaks=False),
    Fault("reference", "nothing is broken, but messages travel by reference", (), environment=REFERENCE, breaks=False),
    Fault("piped", "nothing is broken, but both copies overlap", (), environment=PIPED, breaks=False),
    Fault("nodes", "nothing is broken, but the MPI carries the messages", (), environment=NODES, breaks=False),
)

FAULTS = (
    # ---- order
    Fault(
        "overtaken",
        "messages of one source and tag are received in the order in which they were sent",
        (
            Edit(
                "engine/match.c",
                "struct opi_umsg *m = unexpected[opi_bucket_of(r->ctx, r->src, r->tag)].head;\n"
                "        while (m) {\n            struct opi_umsg *next = m->next;",
                "struct opi_umsg *m = unexpected[opi_bucket_of(r->ctx, r->src, r->tag)].tail;\n"
                "        while (m) {\n            struct opi_umsg *next = m->prev;",
            ),
        ),
    ),
    Fault(
        "overtaken-at-a-wildcard",
        "a receive with wildcards takes the earliest message of a source",
        (
            Edit(
                "engine/match.c",
                "struct opi_umsg *m = all_head;\n    while (m) {\n        struct opi_umsg *next = m->anext;",
                "struct opi_umsg *m = all_tail;\n    while (m) {\n        struct opi_umsg *next = m->aprev;",
            ),
        ),
    ),
    Fault(
        "receive-overtaken",
        "of two receives that fit, the one that was posted first gets the message",
        (Edit("engine/match.c", "w && !(r && w->seq > r->seq); w = w->next", "w && !r; w = w->next"),),
    ),
    Fault(
        "queue-overtaken",
        "messages that wait for room in a ring keep their order",
        (
            SMALL_RING,
            Edit(
                "engine/progress.c",
                "    m->next = NULL;\n    if (o->queue_tail)\n        o->queue_tail->next = m;\n    else\n"
                "        o->queue_head = m;\n    o->queue_tail = m;\n",
                "    m->next = o->queue_head;\n    if (!o->queue_tail)\n        o->queue_tail = m;\n"
                "    o->queue_head = m;\n",
            ),
        ),
    ),
    Fault(
        "held-receive-overtaken",
        "an earlier receive from any source is served before later ones, messages from other nodes included",
        (
            Edit(
                "below/net.c",
                "if (overlap(h, c, source, tag))\n            return true;",
                "if (overlap(h, c, source, tag))\n            return false;",
            ),
        ),
        environment=NODES,
    ),
    # ---- matching
    Fault(
        "wrong-source",
        "a receive takes messages of the source it names only",
        (
            Edit(
                "engine/match.c",
                "if (opi_fits(w, ctx, src, tag))",
                "if (w->ctx == ctx && (w->any_tag || w->tag == tag))",
            ),
        ),
    ),
    Fault(
        "wrong-tag",
        "a receive takes messages of the tag it names only",
        (
            Edit(
                "engine/match.c",
                "if (opi_fits(w, ctx, src, tag))",
                "if (w->ctx == ctx && (w->any_source || w->src == src))",
            ),
        ),
    ),
    Fault(
        "wrong-communicator",
        "communicators are separate worlds",
        (
            Edit(
                "engine/match.c",
                "if (opi_fits(w, ctx, src, tag))",
                "if ((w->any_source || w->src == src) && (w->any_tag || w->tag == tag) && ctx)",
            ),
        ),
    ),
    Fault(
        "status-of-another",
        "a receive from any source is told whose message it got",
        (
            Edit(
                "engine/protocol.c",
                "    r->src = src;\n    r->r_source = r->comm->rank_of_local[src];\n    r->r_tag = e->tag;\n",
                "    r->src = src;\n    r->r_source = r->comm->rank_of_local[r->any_source ? opi.me : src];\n"
                "    r->r_tag = e->tag;\n",
            ),
        ),
    ),
    # ---- probes and cancellation
    Fault(
        "probe-takes-what-is-owed",
        "a probe does not see a message that an earlier receive is to get",
        (
            Edit(
                "mpi/probe.c",
                "if (rc == MPI_SUCCESS && *flag && OPI_UNLIKELY(opi.nheld) && opi_net_must_hold(",
                "if (false && rc == MPI_SUCCESS && *flag && OPI_UNLIKELY(opi.nheld) && opi_net_must_hold(",
            ),
        ),
        environment=NODES,
    ),
    Fault(
        "matched-probe-leaves-its-message",
        "a message that a matched probe found is nobody else's",
        (
            Edit(
                "mpi/probe.c",
                "*q->message = *m;\n            opi_drop_unexpected(m);\n            q->comm",
                "*q->message = *m;\n            q->comm",
            ),
        ),
    ),
    Fault(
        "cancelled-after-its-match",
        "a receive that was matched is not cancelled",
        (
            Edit(
                "mpi/cancel.c",
                "    if (!r->done) {\n        if (r->kind == OPI_R_RECV && r->posted) {",
                "    if (r->done && r->kind == OPI_R_RECV)\n        r->cancelled = true;\n"
                "    if (!r->done) {\n        if (r->kind == OPI_R_RECV && r->posted) {",
            ),
        ),
    ),
    Fault(
        "cancelled-send-arrives",
        "a send that was cancelled is received by nobody",
        (
            Edit(
                "mpi/cancel.c",
                "            r->cancelled = r->done = opi_desc_withdraw(r);",
                "            r->done = opi_desc_withdraw(r);\n            r->cancelled = true;",
            ),
        ),
    ),
    # ---- completion
    Fault(
        "ssend-early",
        "a synchronous send does not complete before its receive began",
        (Edit("engine/path.c", "bool sync = mode == OPI_SYNC;", "bool sync = mode > OPI_BUFFERED;"),),
    ),
    Fault(
        "complete-before-the-data",
        "a receive is complete when all data are there",
        (
            Edit(
                "engine/path.c",
                "memcpy((char *)block + at, (const char *)buf + at, n);\n                at += n;\n"
                "                atomic_store_explicit(&d->filled, at, memory_order_release);",
                "atomic_store_explicit(&d->filled, at + n, memory_order_release);\n"
                "                memcpy((char *)block + at, (const char *)buf + at, n);\n                at += n;",
            ),
        ),
        environment=PIPED,
    ),
    # ---- data
    Fault(
        "byte-dropped",
        "every byte of a message arrives",
        (
            Edit(
                "engine/protocol.c",
                "        if (OPI_LIKELY(r->type->contiguous))\n            memcpy(to, data, m);",
                "        if (OPI_LIKELY(r->type->contiguous))\n            memcpy(to, data, m - 1);",
            ),
        ),
    ),
    Fault(
        "byte-dropped-in-the-ring",
        "every byte of a message in several slots arrives",
        (
            Edit(
                "engine/protocol.c",
                "    memcpy(p, (const char *)s + sizeof(uint32_t), n);\n}",
                "    memcpy(p, (const char *)s + sizeof(uint32_t), n - 1);\n}",
            ),
        ),
    ),
    Fault(
        "ring-wraps-early",
        "a slot of a ring is read before it is written again",
        (
            SMALL_RING,
            Edit(
                "engine/protocol.c",
                "atomic_store_explicit(&g->head, in->head, memory_order_release); /* we are done",
                "atomic_store_explicit(&g->head, in->head + 12, memory_order_release); /* we are done",
            ),
        ),
    ),
    Fault(
        "block-skipped",
        "what both sides copy is copied whole",
        (
            Edit(
                "engine/copy.c",
                "        size_t m = n - at < CO_BLOCK ? n - at : CO_BLOCK;\n        if (direct) {",
                "        size_t m = n - at < CO_BLOCK ? n - at : CO_BLOCK;\n        if (at) {\n"
                "            atomic_fetch_add_explicit(&d->moved, m, memory_order_release);\n            continue;\n"
                "        }\n        if (direct) {",
            ),
        ),
        ranks=2,
        environment=(*REFERENCE, ("TRAFFIC_LONG", "1")),
    ),
    Fault(
        "not-copied-aside",
        "a buffer may be used again when its send is complete",
        (
            Edit(
                "engine/desc.c",
                "        memcpy(block, d->addr, d->size);\n        opi_profile_copied(d->size);\n    }\n"
                "    d->block = block;",
                "        opi_profile_copied(d->size);\n    }\n    d->block = block;",
            ),
        ),
        environment=REFERENCE,
    ),
    Fault(
        "gaps",
        "data with gaps are unpacked to their end",
        (
            Edit(
                "objects/datatype.c",
                "for (size_t i = at / t->size; i < count && s.left; i++)",
                "for (size_t i = at / t->size; i + 1 < count && s.left; i++)",
            ),
        ),
    ),
    # ---- size
    Fault(
        "truncation-unreported",
        "a message longer than its receive is an error",
        (
            Edit(
                "engine/protocol.c",
                "    if (OPI_UNLIKELY(n > r->bytes_max))\n        r->r_error = MPI_ERR_TRUNCATE;\n"
                "    r->done = true;\n}",
                "    r->done = true;\n}",
            ),
        ),
    ),
    Fault(
        "count-of-the-receive",
        "a status tells how much came",
        (
            Edit(
                "engine/protocol.c",
                "r->r_bytes = n < r->bytes_max ? n : r->bytes_max;\n    if",
                "r->r_bytes = r->bytes_max;\n    if",
            ),
        ),
    ),
    # ---- number
    Fault(
        "lost",
        "every message arrives",
        (
            Edit(
                "engine/protocol.c",
                "    if (!r) {\n        opi_add_unexpected(e, src);",
                "    if (!r) {\n        static unsigned n;\n        if (++n % 30)\n"
                "            opi_add_unexpected(e, src);",
            ),
        ),
    ),
    Fault(
        "twice",
        "every message arrives once",
        (
            Edit(
                "engine/protocol.c",
                "    if (!r) {\n        opi_add_unexpected(e, src);",
                "    if (!r) {\n        static unsigned n;\n"
                "        if (opi_env_kind(e) == OPI_K_INLINE && ++n % 10 == 0)\n"
                "            opi_add_unexpected(e, src);\n        opi_add_unexpected(e, src);",
            ),
        ),
    ),
)
