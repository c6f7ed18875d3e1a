"""Completions that the flow of control tells: on which edges of the program graph requests are sure to be complete.

* ``while (!flag) MPI_Test(&q, &flag, ...)``: a flag that is set came from the test, and nothing was begun since.
* ``MPI_Waitany(n, q, &i, ...)`` until ``i == MPI_UNDEFINED``: then none of them is active any more.
* a loop of as many MPI_Waitany or MPI_Waitsome as there are requests, in which none is begun.
* a loop that adds up the counts of MPI_Waitsome or MPI_Testsome until they are as many as there are requests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from opi_xform.dataflow.lattice import Bits
from opi_xform.dataflow.solver import solve
from opi_xform.dataflow.view import numbered
from opi_xform.effects.model import Completion
from opi_xform.graph.graph import Node
from opi_xform.graph.loops import Loop
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import MIRRORED, NEGATED
from opi_xform.memory.poly import ONE, Poly, number, symbol
from opi_xform.ownership.model.names import Name, Names
from opi_xform.ownership.requests.slots import Slots, apart, joints_of, lost_slots, slots_of
from opi_xform.record import dataclass
from opi_xform.values.trip_counts import nominal_trips

Edge = tuple[int, int]
Post = tuple[int, Poly, Poly]
_ENDING = ("start", "cancel", "free_request")
_Begun = tuple[Collection[int], Callable[[int], bool]]
_ZERO, _TOLD, _STALE = 1, 2, 4
_STATES = Bits(_ZERO | _TOLD | _STALE)
# What a flag may be: not set; from a test, so that the requests are complete if it is set; or from anywhere else.


@dataclass(frozen=True, slots=True)
class _Flag:
    """A variable that tells of requests: set when it is not 0 (``done`` None), or when it is ``done``."""

    name: Name
    done: int | None

    def says(self, op: str, value: int) -> bool | None:
        """Whether the variable is set where ``variable op value`` holds; None when that is open."""
        if self.done is not None:
            if op == "==":
                return value == self.done
            return False if value == self.done else None
        if value == 0:
            return op == "!="
        return True if op == "==" else None


def completing_edges(names: Names, o: int) -> Mapping[Edge, tuple[Slots, ...]]:
    """By edge between two blocks: the requests in object ``o`` that are complete where it is taken.

    Found once: each operation whose request is in the object asks for them.
    """
    if o not in names.completing:
        names.completing[o] = _completing(names, o)
    return cast(Mapping[Edge, tuple[Slots, ...]], names.completing[o])


def _completing(names: Names, o: int) -> Mapping[Edge, tuple[Slots, ...]]:
    lost = lost_slots(names, o)
    found: dict[Edge, list[Slots]] = {}
    told: dict[tuple[_Flag, Slots], list[int]] = {}
    for n, done, slots in _completions(names, o):
        flag = _flag(names, n, done)
        if flag is not None:
            told.setdefault((flag, slots), []).append(n)
        if done.which in ("any", "some"):
            for edge in (*_by_turns(names, n, done, slots, lost), *_by_sum(names, n, done, slots, lost)):
                found.setdefault(edge, []).append(slots)
    for (flag, slots), tests in told.items():
        for edge in _by_flag(names, flag, slots, frozenset(tests), lost):
            found.setdefault(edge, []).append(slots)
    return {edge: tuple(dict.fromkeys(slots)) for edge, slots in found.items()}


def _completions(names: Names, o: int) -> Iterator[tuple[int, Completion, Slots]]:
    """Calls that complete some of the requests in an object, with all that they look at."""
    for n, op in names.operations.items():
        done = op.completes
        if done is None or not done.releases:
            continue
        args = names.program.values.args.get(n, ())
        count = args[done.count] if done.count is not None and done.count < len(args) else None
        slots = slots_of(names, n, done.requests, count)
        if slots is not None and slots.object == o:
            yield n, done, slots


# --- a variable that tells it -----------------------------------------------------------------------------------


def _flag(names: Names, n: int, done: Completion) -> _Flag | None:
    """The variable through which a call tells that all of its requests are complete."""
    undefined = names.program.constants.get("MPI_UNDEFINED")
    if done.which in ("one", "all"):
        argument, value = done.flag, None
    elif done.which == "any":
        argument, value = (done.index if done.definite else None), undefined
    else:
        argument, value = done.outcount, undefined
    if argument is None or (done.which in ("any", "some") and value is None):
        return None
    values = names.program.values
    address = values.args[n][argument]
    base = values.symbols.base(address)
    if base is None or values.symbols.offset(address).terms or base in values.escaped:
        return None
    if base in values.foreign:
        return None
    info = values.objects.table[base]
    variable = names.program.variables.get(info.variable) if info.variable is not None else None
    if variable is None or variable.type.kind != "int" or variable.type.volatile or variable.type.atomic:
        return None
    return _Flag(("v", base, 0), value)


def _by_flag(
    names: Names, flag: _Flag, slots: Slots, tests: frozenset[int], lost: Mapping[int, Slots | None]
) -> list[Edge]:
    """The edges on which the variable is set, and is sure to have been by one of ``tests``, nothing begun since."""
    graph = names.graph
    symbols = names.program.values.symbols
    if any(symbols.table[s].scope for p in (slots.lo, slots.length) for s in p.symbols()):
        return []  # the tests of different turns may be of different requests
    events: dict[int, list[tuple[int, int]]] = {}
    at = dict.fromkeys(names.defs.get(flag.name, ()), _STALE)
    at.update((a.node, _STALE) for a in names.writes(flag.name[1]))
    for n in names.defs.get(flag.name, ()):
        action = graph.nodes[n].action
        if isinstance(action, ins.Define) and isinstance(action.value, ins.Const):
            at[n] = _STALE if flag.says("==", action.value.value) is not False else _ZERO
    at.update(dict.fromkeys(tests, _TOLD))
    for n, happens in at.items():
        events.setdefault(graph.nodes[n].block, []).append((n, happens))
    for n, region in lost.items():
        if region is None or not apart(joints_of(names), region, slots):
            events.setdefault(graph.nodes[n].block, []).append((n, 0))
    for n, op in names.operations.items():
        if op.kind == "start":
            events.setdefault(graph.nodes[n].block, []).append((n, 0))
    for found in events.values():
        found.sort()
    says = {(b, s): told for b in range(len(graph.blocks)) for s, told in _ways(names, b, flag) if told is not None}
    after = solve(numbered(graph.succs, graph.preds), _FlagSet(events, says)).after
    return sorted((b, s) for (b, s), told in says.items() if told and after[b] and not after[b] & _STALE)


@dataclass(frozen=True)
class _FlagSet:
    """What a variable that tells of completion may be, as a dataflow problem.

    events: by block, what happens to it in order (0: something may have been begun).  says: by edge, whether it is set.
    """

    events: Mapping[int, Sequence[tuple[int, int]]]
    says: Mapping[Edge, bool]

    @property
    def lattice(self) -> Bits:
        return _STATES

    def boundary(self, node: int) -> int:
        del node
        return _STALE

    def transfer(self, node: int, state: int) -> int:
        for _, happens in self.events.get(node, ()) if state else ():
            if happens:
                state = happens
            elif state & _TOLD:
                state = (state & ~_TOLD) | _STALE
        return state

    def transfer_edge(self, source: int, target: int, state: int) -> int:
        told = self.says.get((source, target))
        if told is None or not state:
            return state
        return state & ~_ZERO if told else _ZERO


def _ways(names: Names, block: int, flag: _Flag) -> list[tuple[int, bool | None]]:
    """Where control goes from a block, and whether the variable is set there."""
    graph = names.graph
    succs = graph.succs[block]
    nodes = graph.blocks[block]
    if nodes and len(succs) == 2 and succs[0] != succs[1]:
        n = nodes[-1]
        if n not in names.tests:
            names.tests[n] = _told(names, graph.nodes[n])
        test = names.tests[n]
        if test is not None:
            name, op, value = test
            if name == flag.name:
                return [(succs[0], flag.says(op, value)), (succs[1], flag.says(NEGATED[op], value))]
    return [(s, None) for s in dict.fromkeys(succs)]


def _told(names: Names, node: Node) -> tuple[Name, str, int] | None:
    """The variable that a node compares with a number; None where it compares something else, or nothing."""
    test = _test(node.action.cond) if isinstance(node.action, ins.Branch) else None
    name = None if test is None else names.name(node.frame, test[0])
    return None if test is None or name is None else (name, *test[1:])


def _test(cond: ins.Operand) -> tuple[ins.Var, str, int] | None:
    """A condition as ``variable == number`` or ``variable != number``."""
    op, value = "!=", 0
    while True:
        match cond:
            case ins.Var():
                return cond, op, value
            case ins.Op(op="cast", args=(inner,), type=type_) if type_.kind == "int" and (type_.size or 0) >= 4:
                cond = inner
            case ins.Op(op="not", args=(inner,)) if value == 0:
                cond, op = inner, NEGATED[op]
            case ins.Op(op=("==" | "!=") as how, args=(inner, ins.Const(value=number_))) if value == 0:
                cond, op, value = inner, NEGATED[how] if op == "==" else how, number_
            case _:
                return None


# --- the index that MPI_Waitany gives ---------------------------------------------------------------------------


def waited(names: Names, s: int) -> tuple[int, Completion, Poly] | None:
    """The MPI_Waitany whose index a symbol is, and how many requests it waits for; None when it is none.

    Where the symbol is a subscript, it lies from 0 on below that number: MPI_UNDEFINED is no place in an array.
    """
    info = names.program.values.symbols.table[s]
    if info.kind != "opaque" or not isinstance(info.key[0], int):
        return None
    n, what = info.key[0], info.key[1]
    op = names.operations.get(n)
    done = op.completes if op is not None else None
    if done is None or done.which != "any" or not done.definite or what != ("output", done.index):
        return None
    count = _count(names, n, done)
    return None if count is None else (n, done, count)


def completed_by_index(names: Names, n: int, done: Completion) -> Slots | None:
    """The request that MPI_Waitany completes, in terms of its index."""
    if done.which != "any" or not done.definite or not done.releases:
        return None
    symbols = names.program.values.symbols
    one = slots_of(names, n, done.requests)
    index = symbols.known("opaque", n, ("output", done.index))
    undefined = names.program.constants.get("MPI_UNDEFINED")
    if one is None or index is None or undefined is None:
        return None
    first, size = one.lo.constant, one.length.constant
    if first is None or size is None or first + undefined * size + size > 0:
        return None  # without an index it must be no request at all
    return Slots(one.object, one.lo + symbol(index).scaled(size), one.length)


def all_in_turn(names: Names, loop: Loop, s: int, posts: Sequence[Post]) -> bool:
    """In a loop of MPI_Waitany with index ``s`` each of its requests has one turn.

    posts: nodes just before it that begin the requests, with the row that each is for and the number of turns of the
    loop that it stands in; the row is what the index says.
    """
    found = waited(names, s)
    if found is None:
        return False
    n, done, count = found
    program = names.program
    nest, values, symbols = program.nest, program.values, program.values.symbols
    one = slots_of(names, n, done.requests)
    if one is None or nest.of[names.graph.nodes[n].block] != loop.number:
        return False
    slots = Slots(one.object, one.lo, symbols.resolve(one.length * count))
    lost = lost_slots(names, one.object)
    size = one.length.constant
    if _quiet_loop(names, n, slots, lost) is None or size is None or len(loop.exits) != 1:
        return False
    trips = nominal_trips(names.graph, nest, values, loop, loop.exits[0])
    block = names.graph.nodes[n].block
    if trips != count or loop.exits[0][0] != loop.header or not all(nest.dominates(block, x) for x in loop.latches):
        return False
    named = any(row.constant is not None for _, row, _ in posts)
    begun, before = (_begun_by_name if named else _begun_in_loop)(names, loop, one, count, posts)
    elsewhere = _never if named else before
    if not begun:
        return False
    for other, op in names.operations.items():
        used = op.completes.requests if op.completes is not None else op.request
        if other == n or elsewhere(other) or (op.completes is None and op.kind not in _ENDING):
            continue
        touched = slots_of(names, other, used)
        if touched is None or touched.object == one.object:
            return False
    return all(other in begun or before(other) for other in lost)


def _begun_in_loop(names: Names, loop: Loop, one: Slots, count: Poly, posts: Sequence[Post]) -> _Begun:
    """The requests are begun in the turns of a loop that comes just before: (who does it, what does not run from there
    to the end of the waits).
    """
    nest, symbols = names.program.nest, names.program.values.symbols
    begun: set[int] = set()
    between: set[int] = set()
    for post, row, turns in posts:
        at = names.graph.nodes[post].block
        around = nest.loops[nest.of[at]] if nest.of[at] >= 0 else None
        slot = slots_of(names, post, names.operations[post].request)
        if around is None or slot is None or slot.object != one.object or turns != count:
            continue
        same = _numbered(slot, one, symbols.resolve(row))
        ahead = around.parent == loop.parent and nest.dominates(around.header, loop.header) and around != loop
        if same and ahead and all(nest.dominates(at, x) for x in around.latches):
            begun.add(post)
            between |= _between(names, around.header, loop)
    return begun, lambda other: names.graph.nodes[other].block not in between


def _between(names: Names, first: int, loop: Loop) -> set[int]:
    """The blocks that run between a block, which dominates a loop, and the end of the loop."""
    out = {first, *loop.blocks}
    work = [loop.header]
    while work:
        for block in names.graph.preds[work.pop()]:
            if block not in out:
                out.add(block)
                work.append(block)
    return out


def _begun_by_name(names: Names, loop: Loop, one: Slots, count: Poly, posts: Sequence[Post]) -> _Begun:
    """The requests are begun one after the other just before, each by a call of its own that names its row."""
    nest, graph = names.program.nest, names.graph
    begun: dict[int, int] = {}  # by row
    for post, row, turns in posts:
        at = graph.nodes[post].block
        slot = slots_of(names, post, names.operations[post].request)
        c = row.constant
        ahead = nest.of[at] == loop.parent and nest.dominates(at, loop.header)
        if c is None or c in begun or turns != ONE or slot is None or not ahead or not _numbered(slot, one, row):
            return set(), _never
        begun[c] = post
    if count.constant is None or begun.keys() != set(range(count.constant)):
        return set(), _never

    def before(other: int) -> bool:
        block = graph.nodes[other].block
        return all(
            other < post if graph.nodes[post].block == block else nest.dominates(block, graph.nodes[post].block)
            for post in begun.values()
        )

    return set(begun.values()), before


def _numbered(slot: Slots, one: Slots, row: Poly) -> bool:
    """A request stands in its array where its row stands among the rows.  one: the first request, of a known size."""
    return slot == Slots(one.object, one.lo + row.scaled(one.length.constant or 0), one.length)


def _never(_other: int) -> bool:
    return False


# --- as many waits as requests ----------------------------------------------------------------------------------


def _by_turns(names: Names, n: int, done: Completion, slots: Slots, lost: Mapping[int, Slots | None]) -> Iterator[Edge]:
    """The exits of a loop that are reached after as many waits as there are requests."""
    program = names.program
    loop = _quiet_loop(names, n, slots, lost)
    count = _count(names, n, done)
    if loop is None or count is None or not done.definite:
        return
    block = names.graph.nodes[n].block
    if not all(program.nest.dominates(block, latch) for latch in loop.latches):
        return
    for edge in loop.exits:
        if not all(program.nest.dominates(edge[0], latch) for latch in loop.latches):
            continue
        trips = nominal_trips(names.graph, program.nest, program.values, replace(loop, exits=(edge,)), edge)
        if trips is not None and program.values.symbols.is_nonneg(trips - count):
            yield edge


def _by_sum(names: Names, n: int, done: Completion, slots: Slots, lost: Mapping[int, Slots | None]) -> Iterator[Edge]:
    """The exits of a loop where the counts that the calls gave add up to the number of requests.

    ``c += outcount`` from 0 up to the number, or ``left -= outcount`` from there down.
    """
    values = names.program.values
    symbols = values.symbols
    loop = _quiet_loop(names, n, slots, lost)
    count = _count(names, n, done)
    if loop is None or count is None or done.which != "some":
        return
    output = symbols.known("opaque", n, ("output", done.outcount))
    if output is None:
        return
    for header in values.headers.get(loop.number, ()):
        signs = {_added(symbols.resolve(value) - symbol(header.symbol), output) for _, value in header.latches}
        sign = next(iter(signs)) if len(signs) == 1 else None
        if sign is None or symbols.scope(header.init) & symbols.inner[loop.number]:
            continue
        for edge in loop.exits:
            nodes = names.graph.blocks[edge[0]]
            condition = values.conditions.get(nodes[-1]) if nodes else None
            if condition is None or len(names.graph.succs[edge[0]]) != 2 or condition.unsigned:
                continue
            op = condition.op if names.graph.succs[edge[0]][0] == edge[1] else NEGATED[condition.op]
            difference = symbols.resolve(condition.left - condition.right)
            a = difference.coefficient(header.symbol)
            rest = difference - symbol(header.symbol).scaled(a)
            if rest.coefficient(output) == a * sign:
                rest = rest - symbol(output).scaled(a * sign)  # looked at after the addition
            rest = rest + header.init.scaled(a)
            if abs(a) != 1 or any(symbols.table[s].scope & symbols.inner[loop.number] for s in rest.symbols()):
                continue
            if a * sign < 0:
                op, rest = MIRRORED[op], -rest
            # the loop is left where the sum of the counts + rest op 0
            if op == ">":
                rest, op = rest - number(1), ">="
            if op in (">=", "==") and symbols.is_nonneg(-rest - count):
                yield edge


def _added(change: Poly, output: int) -> int | None:
    sign = change.coefficient(output)
    return sign if abs(sign) == 1 and not (change - symbol(output).scaled(sign)).terms else None


def _count(names: Names, n: int, done: Completion) -> Poly | None:
    values = names.program.values
    return None if done.count is None else values.symbols.resolve(values.args[n][done.count])


def _quiet_loop(names: Names, n: int, slots: Slots, lost: Mapping[int, Slots | None]) -> Loop | None:
    """The innermost loop around a call, when all turns are about the same requests and none is begun in it."""
    nest = names.program.nest
    symbols = names.program.values.symbols
    number_ = nest.of[names.graph.nodes[n].block]
    if number_ < 0:
        return None
    loop = nest.loops[number_]
    if any(symbols.scope(p) & symbols.inner[number_] for p in (slots.lo, slots.length)):
        return None
    for other, region in lost.items():
        if names.graph.nodes[other].block in loop.blocks and (
            region is None or not apart(joints_of(names), region, slots)
        ):
            return None
    for other, op in names.operations.items():
        if op.kind == "start" and names.graph.nodes[other].block in loop.blocks:
            return None
    return loop
