"""What happens to a buffer, line by line, and what may follow what.  Nothing here knows of ownership."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from opi_xform.ir.instr import CallInstr
from opi_xform.once import once
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import Program
from opi_xform.record import dataclass

MOST_STEPS = 400_000  # blocks walked for one object, to find what follows what
HIDDEN = frozenset(("birth", "enter"))


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happens to a buffer at a line.  what: ``write``, ``read``, ``send``, ``recv``, ``alloc``, ``free``
    or ``escape``.

    sender, receiver: the states of the pattern tables that may be the case just before it.  holds: those of the carrier
    after it, in the transformed program.  All as sets (``dataflow.table``), 0 where there is nothing to say.
    then: the moments that may follow, by index.  fails: a call that the table of its side does not allow.  rank: its
    place in the program's flow (``in_order``).
    """

    file: str
    line: int
    function: str
    what: str
    sender: int = 0
    receiver: int = 0
    holds: int = 0
    then: tuple[int, ...] = ()
    fails: bool = False
    rank: tuple[int, int] = (0, 0)


def moment_at(program: Program, node: int, what: str) -> Moment:
    """What happens at a node of the program's graph."""
    span = node_span(program, node)
    return Moment(span.file, span.line, function_of(program, node), what, rank=_rank(program, node))


def function_of(program: Program, node: int) -> str:
    """The function in whose text a node is."""
    return function_name(program, program.graph.frames[program.graph.nodes[node].frame].function)


def function_name(program: Program, key: str) -> str:
    """How the program's text calls a function."""
    known = program.functions.get(key)
    return known.name if known is not None else key


def calls_to(program: Program, node: int) -> list[tuple[str, str]]:
    """The calls, as (caller, called), through which a node is reached, from its own function up."""
    frames = program.graph.frames
    frame = frames[program.graph.nodes[node].frame]
    found = []
    while frame.parent >= 0:
        above = frames[frame.parent]
        found.append((function_name(program, above.function), function_name(program, frame.function)))
        frame = above
    return found


# --- what follows what ------------------------------------------------------------------------------------------------


def in_order(program: Program, nodes: Iterable[int]) -> list[int]:
    """Nodes as the flow leads to them: the blocks in reverse postorder, the body of a loop before what follows it."""
    return sorted(nodes, key=lambda n: _rank(program, n))


def _rank(program: Program, node: int) -> tuple[int, int]:
    return _ranks(program)[program.graph.nodes[node].block], node


@once
def _ranks(program: Program) -> list[int]:
    """The number of each block in reverse postorder; those that nothing leads to come last."""
    succs = program.graph.succs
    seen = {0}
    done: list[int] = []
    stack = [(0, list(succs[0]))] if succs else []
    while stack:
        at, rest = stack[-1]
        if not rest:
            stack.pop()
            done.append(at)
        elif (b := rest.pop()) not in seen:  # the last one first: what is done last comes first
            seen.add(b)
            stack.append((b, list(succs[b])))
    out = [len(succs)] * len(succs)
    for number, b in enumerate(reversed(done)):
        out[b] = number
    return out


def successors(program: Program, nodes: Sequence[int]) -> list[tuple[int, ...]]:
    """For the entry (0), each of the nodes (1, 2, ...) and the exit (the last): what may come next.

    Empty where the graph is too large.  Where the program may end by returning from main, a call that ends it (an
    error) is no end of the buffer's life.
    """
    graph = program.graph
    ends = {b for b, out in enumerate(graph.succs) if not out}
    ends = {b for b in ends if not _stops(program, b)} or ends
    number = {n: i for i, n in enumerate(nodes, 1)}
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    succs: list[set[int]] = [set() for _ in range(len(nodes) + 2)]
    end = len(nodes) + 1
    for n in nodes:
        block = graph.nodes[n].block
        if block in last:
            succs[number[last[block]]].add(number[n])
        first.setdefault(block, n)
        last[block] = n
    left = MOST_STEPS
    for source, start in [(0, (0,)), *((number[n], graph.succs[b]) for b, n in last.items())]:
        seen: set[int] = set()
        worklist = list(start)
        if not start and (source == 0 or graph.nodes[nodes[source - 1]].block in ends):
            succs[source].add(end)
        while worklist and left:
            b = worklist.pop()
            if b in seen:
                continue
            seen.add(b)
            left -= 1
            if b in first:
                succs[source].add(number[first[b]])
            elif graph.succs[b]:
                worklist += graph.succs[b]
            elif b in ends:
                succs[source].add(end)
    return [tuple(sorted(found)) for found in succs] if left else []


def _stops(program: Program, block: int) -> bool:
    """The block ends with a call that does not return."""
    nodes = program.graph.blocks[block]
    return bool(nodes) and isinstance(program.graph.nodes[nodes[-1]].action, CallInstr)


def linked(succs: Sequence[tuple[int, ...]], found: Sequence[Sequence[Moment]], base: int) -> list[Moment]:
    """The moments of nodes, one after the other, each with what may follow; their numbers begin at ``base``.

    succs: of the nodes (``successors``); without any it is not known what follows another node.
    """
    starts = [base, *(base + total for total in accumulate(len(here) for here in found))]
    out: list[Moment] = []
    for i, here in enumerate(found):
        after = tuple(starts[s - 1] for s in succs[i + 1] if 0 < s <= len(found)) if succs else ()
        for m in here[:-1]:
            out.append(replace(m, then=(base + len(out) + 1,)))
        out += [replace(m, then=after) for m in here[-1:]]
    return out


# --- as they are shown ------------------------------------------------------------------------------------------------


def merged(moments: Sequence[Moment]) -> list[Moment]:
    """One moment for each line and kind of happening, in the order of the flow; copies of a function are one."""
    places: dict[tuple[str, int, str], int] = {}
    shown = [m for m in moments if m.file and m.what not in HIDDEN]
    for m in shown:
        places.setdefault((m.file, m.line, m.what), len(places))
    found: dict[int, Moment] = {}
    then: dict[int, set[int]] = {}
    for index, m in enumerate(moments):
        i = places.get((m.file, m.line, m.what))
        if i is None:
            continue
        old = found.get(i)
        found[i] = (
            m
            if old is None
            else replace(
                old,
                sender=old.sender | m.sender,
                receiver=old.receiver | m.receiver,
                holds=old.holds | m.holds,
                fails=old.fails or m.fails,
                rank=min(old.rank, m.rank),
            )
        )
        then.setdefault(i, set()).update(_reached(moments, places, index))
    order = sorted(range(len(places)), key=lambda i: (found[i].rank, i))
    number = {old: new for new, old in enumerate(order)}
    return [replace(found[i], then=tuple(sorted(number[j] for j in then[i]))) for i in order]


def _reached(moments: Sequence[Moment], places: Mapping[tuple[str, int, str], int], index: int) -> set[int]:
    """The shown moments that follow one, past those that are not shown."""
    found: set[int] = set()
    seen: set[int] = set()
    worklist = list(moments[index].then)
    while worklist:
        at = worklist.pop()
        if at in seen:
            continue
        seen.add(at)
        m = moments[at]
        i = places.get((m.file, m.line, m.what))
        if i is None:
            worklist += m.then
        else:
            found.add(i)
    return found
