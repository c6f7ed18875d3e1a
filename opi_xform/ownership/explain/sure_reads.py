"""Which reads surely need bytes of a message: each statement that reads is tried as the only one."""

from __future__ import annotations

from islpy import Set

from opi_xform.ownership.explain.culprits import TRIES, excluded_after, never_run, readers_of, written_between
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reaching.ways import ahead, in_turn
from opi_xform.ownership.liveness.buffer_events import PADDING, SIGNS
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Use
from opi_xform.regions.sets import BudgetExceeded

SHOWN = 2  # reads that are named


def surely_read(judge: Judge, use: Use) -> tuple[int, ...]:
    """Reads, nearest first, that need bytes of a message after its send; or, in one sweep with the bytes that a receive
    brings, others of the buffer.

    Each statement is tried as the only one, sends last, but those that come before anything is written.  A read counts
    whose place is known.  Where a message that is sent begins elsewhere in each turn of a loop, only reads of the same
    turn and those outside this loop do.
    """
    finding = judge.findings.get((use.node, use.argument))
    if judge.exceeded or finding is None or finding.ok or use.lo is None or use.length is None:
        return ()
    symbols = judge.symbols
    moving = symbols.scope(symbols.resolve(use.lo))
    if use.side == "recv":
        moving |= symbols.scope(symbols.resolve(use.length))
    if moving and use.side == "recv":
        return ()  # the other turns bring what this one does not
    out: list[int] = []
    assumed: frozenset[str] = frozenset() if judge.strict else frozenset({PADDING, SIGNS})
    try:
        with judge.regions.budget():
            covered = judge.region(use.node, use.lo, use.length, use.side == "recv")
        if covered is None:
            return ()
        for nodes in _statements(judge, use, moving, covered):
            found, _ = judge.live(None, frozenset(nodes), assumed)
            with judge.regions.budget():
                live = judge.here(use, found.get(use.node, judge.regions.none))
                needed = not live.intersect(covered).is_empty()
                if use.side == "recv":
                    needed = (needed or symbols.resolve(use.lo).constant == 0) and not live.subtract(covered).is_empty()
            if needed:
                out.append(nodes[0])
            if len(out) == SHOWN:
                break
    except BudgetExceeded:
        pass
    return tuple(out)


def _statements(judge: Judge, use: Use, moving: frozenset[int], covered: Set) -> list[tuple[int, ...]]:
    """What reads the buffer after a use, in a process that runs both, statement by statement."""
    graph, nest = judge.program.graph, judge.program.nest
    out: dict[tuple[int, int], list[int]] = {}
    excluded = excluded_after(judge, use)
    reads = (n for n in ahead(graph, use.node, readers_of(judge)) if not excluded(n))
    less_sure = branches_of(judge.program).less_sure
    order = {n: (never_run(judge.program, n), n in judge.use_nodes, *less_sure(use.node, n)) for n in reads}
    found = sorted(order, key=order.__getitem__)
    again = [n for n in found if n in judge.use_nodes and not written_between(judge, use, n)]
    if again and all(written_between(judge, use, n) for n in found[:TRIES] if n not in judge.use_nodes):
        found = [*again, *(n for n in found if n not in again)]  # what is read may be what came meanwhile
    for n in found:
        around = moving.intersection(nest.chain(graph.nodes[n].block))
        if _counts(judge, n, covered) and (not around or in_turn(judge.program, use.node, n, around)):
            out.setdefault(_statement(judge, n), []).append(n)
    return [tuple(nodes) for nodes in out.values()][:TRIES]


def _statement(judge: Judge, n: int) -> tuple[int, int]:
    graph = judge.program.graph
    statement = graph.statement(graph.nodes[n])
    return graph.nodes[n].frame, n if statement is None else id(statement.stmt)


def partly_known(judge: Judge, use: Use) -> bool:
    """Of some reads it is not known which bytes they are of, or there are more than are tried."""
    reads = [n for n in ahead(judge.program.graph, use.node, readers_of(judge)) if n not in judge.use_nodes]
    places = (a for n in reads for a in judge.accesses.get(n, ()) if a.kind == "R")
    return len({_statement(judge, n) for n in reads}) > TRIES or any(a.lo is None or a.length is None for a in places)


def _counts(judge: Judge, n: int, covered: Set) -> bool:
    """The places are known that are read; and of another send, that it sends these bytes."""
    for u in judge.use_nodes.get(n, ()):
        region = judge.region(n, u.lo, u.length, True) if u.side == "send" else None
        if region is not None and covered.subtract(region).is_empty():
            return True
    reads = [a for a in judge.accesses.get(n, ()) if a.kind == "R"]
    return n not in judge.use_nodes and all(a.lo is not None and a.length is not None for a in reads)
