"""What happens to one buffer, node by node, for the placement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.graph import Bind, Node
from opi_xform.graph.leads import leads
from opi_xform.graph.statements import Flow, Level
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import operands_of, parts_of
from opi_xform.memory.poly import Poly
from opi_xform.ownership.allocation.allocations import Allocation
from opi_xform.ownership.allocation.busy_frees import still_freed
from opi_xform.ownership.allocation.deallocations import Deallocation, deallocation
from opi_xform.ownership.allocation.freed_rows import row_of_given
from opi_xform.ownership.allocation.repeated import has_effect
from opi_xform.ownership.explain.pointers.settings import freed_elsewhere, freed_refusal
from opi_xform.ownership.liveness.failures import failures_of
from opi_xform.ownership.liveness.zero_ends import filled_by
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.placement.free_tests import FreeTests, free_tests
from opi_xform.ownership.placement.states import (
    ALLOC,
    BIRTH,
    COMPLETE,
    DEALLOC,
    IRECV,
    IREPLACE,
    LEAVE,
    MADE,
    MAYALLOC,
    MAYSEND,
    RAWBIRTH,
    RECV,
    REPLACE,
    SEND,
    TOUCH,
    Event,
)
from opi_xform.ownership.requests.pending import pending_at
from opi_xform.ownership.spelling.mentions import Mentions, plain


@dataclass(slots=True)
class EventList:
    """``deallocations``: what frees the buffer.  ``pending_kept``: an operation that stays may be under way."""

    all: list[Event]
    by_node: dict[int, list[Event]]
    deallocations: list[Deallocation]
    pending_kept: bool
    tests_of_frees: frozenset[Level]  # `if (buf) free(buf);`
    tests_of_allocations: frozenset[Level]  # `if (!buf) buf = malloc(n);`
    known_tests: frozenset[int]  # their nodes, and those in functions that only free
    fresh_tests: frozenset[int]  # of what malloc has just returned


def collect_events(
    program: Program,
    flow: Flow,
    buffer: Buffer,
    mentions: Mentions,
    converted: frozenset[tuple[str, int, str, int]],
    allocations: Sequence[Allocation],
    in_place: bool,
    lazy: Mapping[int, Level],
) -> EventList | Refusal | str:
    """Everything in node order; a sentence, or a reason with notes, when something is not understood."""
    return _Collector(program, flow, buffer, mentions, converted, allocations, in_place, lazy).run()


class _Collector:
    def __init__(
        self,
        program: Program,
        flow: Flow,
        buffer: Buffer,
        mentions: Mentions,
        converted: frozenset[tuple[str, int, str, int]],
        allocations: Sequence[Allocation],
        in_place: bool,
        lazy: Mapping[int, Level],
    ) -> None:
        self.program = program
        self.flow = flow
        self.buffer = buffer
        self.mentions = mentions
        self.defs = mentions.defs
        self.converted = converted
        self.in_place = in_place
        self.lazy = lazy
        self.objects = frozenset(buffer.objects)
        by_node = program.values.objects.by_node
        self.own = self.objects | {by_node[n] for n in buffer.carrier.allocations if n in by_node}  # rows are of one
        self.allocations = allocations
        self.wrappers = frozenset(f for a in allocations for f in a.wrappers)
        self.by_node: dict[int, list[Event]] = {}
        self.deallocations: list[Deallocation] = []
        self.pending_kept = False
        self.errors_return = failures_of(program).returns
        self.free_tests = FreeTests(frozenset(), frozenset())

    def run(self) -> EventList | Refusal | str:
        self.swaps()
        problem = self.frees()
        self.free_tests = free_tests(self.program, self.flow, self.buffer, self.deallocations)
        problem = problem or self.touches() or self.births()
        if problem:
            return problem
        for use in self.buffer.uses:
            problem = self.use(use)
            if problem:
                return problem
        self.completions()
        self.completed()
        self.leaves()
        freeing = frozenset[int]().union(*(d.wrappers for d in self.deallocations))
        known = self.free_tests.nodes.union(self.lazy, *(self.flow.by_frame[frame] for frame in freeing))
        fresh = {n for frame in self.wrappers for n in self.flow.by_frame[frame]}
        fresh.update(n for a in self.allocations if a.inside for n in self.tests_of(a))
        ordered = [e for n in sorted(self.by_node) for e in self.by_node[n]]
        return EventList(
            ordered,
            self.by_node,
            self.deallocations,
            self.pending_kept,
            self.free_tests.levels,
            frozenset(self.lazy.values()),
            frozenset(known),
            frozenset(fresh),
        )

    def tests_of(self, allocation: Allocation) -> Iterator[int]:
        """The nodes of ``if (!(v = malloc(n)))``, which tests what it allocates there and then."""
        for frame in self.flow.frames_of[allocation.function]:
            yield from (n for n in self.flow.by_frame[frame] if self.flow.stmt[n] == allocation.stmt)

    def add(self, node: int, kind: str, row: Poly | None = None) -> None:
        event = Event(node, kind, row)
        found = self.by_node.setdefault(node, [])
        if event not in found:
            found.append(event)

    def effect(self, n: int) -> FunctionEffect | None:
        action = self.program.graph.nodes[n].action
        if isinstance(action, ins.CallInstr) and isinstance(action.callee, ins.AddrFunc):
            return self.program.effects.get(action.callee.key)
        return None

    # --- the life of the pointer -----------------------------------------------------------------------------------

    def births(self) -> str:
        key = self.buffer.carrier.variable
        pointer = self.buffer.carrier.kind == "pointer"
        for n in self.defs.nodes.get(key, ()):
            match self.program.graph.nodes[n].action:
                case ins.Birth():
                    self.add(n, RAWBIRTH if pointer else BIRTH)
                case ins.Define() if self.set_to_null(n):
                    self.add(n, BIRTH)
                case _:
                    pass
        for allocation in self.allocations:
            for n in allocation.stores:
                row = None
                if self.buffer.carrier.rows:
                    row = self.mentions.row(self.program.values.operands[n][0])
                    if row is None:
                        return self.which_row(n)
                given = self.program.values.operands.get(n, ())
                sure = not given or self.program.values.symbols.base(given[-1]) is not None
                self.add(n, MADE if not self.in_place else ALLOC if sure else MAYALLOC, row)
        return ""

    def set_to_null(self, n: int) -> bool:
        """Also by a copy of what a function has set through the pointer's address."""
        given = self.program.values.operands.get(n, ())
        return bool(given) and given[-1].constant == 0

    def leaves(self) -> None:
        """Where the carrier is set to other memory: what is called after that through it is not about the buffer."""
        carrier = self.buffer.carrier
        if carrier.kind != "pointer":
            return
        values = self.program.values
        symbols = values.symbols
        named = values.objects.by_name.get(carrier.variable, ())
        cells = {o for o in named if values.objects.table[o].kind == "variable"} - self.objects
        exchanged = {n for swap in self.buffer.swaps for n in (swap.start, *swap.nodes)}
        stores = {n for o in cells for n in values.accesses.nodes(o) if values.accesses.touches(n, (o,), "W")}
        for n in sorted({*self.defs.nodes.get(carrier.variable, ()), *stores} - exchanged):
            action = self.program.graph.nodes[n].action
            given = values.operands.get(n, ())
            if isinstance(action, ins.Birth) or filled_by(self.program, n) == 0:
                continue
            if isinstance(action, Bind):
                given = tuple(v for key, v in zip(action.params, given, strict=False) if key == carrier.variable)
            elif isinstance(action, ins.Store) and given and symbols.base(given[0]) not in cells:
                given = ()  # perhaps another cell
            value = symbols.not_null(given[-1]) if given else None
            row = self.mentions.row(given[0]) if carrier.rows and len(given) > 1 else None
            if value is None or (value.constant != 0 and symbols.base(value) not in self.own):
                self.add(n, LEAVE, row)
            elif value.constant == 0 and isinstance(action, ins.Store) and bool(carrier.rows) == (row is not None):
                self.add(n, BIRTH, row)  # set to NULL through its address

    def frees(self) -> Refusal | str:
        for n in self.defs.calls:
            node = self.program.graph.nodes[n]
            action = node.action
            effect = self.effect(n)
            if effect is None or effect.frees is None or not isinstance(action, ins.CallInstr):
                continue
            i = effect.frees.arg
            values = self.program.values.args.get(node.number, ())
            if i >= len(values):
                continue
            base = self.program.values.symbols.base(self.program.values.symbols.not_null(values[i]))
            if base is None:
                if not self.own.isdisjoint(self.program.points_to.operand(node.frame, action.args[i])):
                    return freed_refusal(self.program, self.buffer, n, i)
                continue
            if base not in self.objects:
                continue
            freed, call, written = self.freed(n, i)
            if effect.allocates is not None or effect.frees.indirect:
                return "the buffer is reallocated"
            row = None
            if self.buffer.carrier.rows:
                row = self.mentions.row(values[i])
            given = not freed.wrappers and row_of_given(self.program, self.buffer.carrier, plain(call.args[i]))
            if not given and not self.names(written):
                return freed_elsewhere(self.program, self.buffer, freed)
            if self.buffer.carrier.rows and row is None:
                return self.which_row(node.number)
            self.deallocations.append(freed)
            self.add(node.number, DEALLOC, row)
        return ""

    def freed(self, n: int, i: int) -> tuple[Deallocation, ast.Call, ast.Expr]:
        """What frees the buffer with a call of ``free``; the call and its argument as they are written.

        A call of a function that does more than that only counts where ``free`` itself does not name the buffer.
        """
        known = deallocation(self.program, n, i)
        found = self.written(known)
        if self.names(found[1]) or (stays := still_freed(self.program, self.flow, self.buffer, n, i)) is None:
            return known, *found
        return stays, *self.written(stays)

    def written(self, freed: Deallocation) -> tuple[ast.Call, ast.Expr]:
        action = self.program.graph.nodes[freed.node].action
        assert isinstance(action, ins.CallInstr)
        e = plain(action.call.args[freed.argument])
        return action.call, plain(e.operand) if freed.out and isinstance(e, ast.AddrOf) else e

    def names(self, e: ast.Expr) -> bool:
        """An expression is the carrier, or one of its rows."""
        key = self.buffer.carrier.variable
        if self.buffer.carrier.rows and isinstance(e, ast.Index) and key not in self.program.members:
            e = plain(e.base)
        return self.program.names(e, key)

    def swaps(self) -> None:
        """Where the carrier changes places with another: what it held goes, comes, or both, as somebody needs it.

        The other buffer has the opposite event there (``Swap`` tells both the same), so that what is held before the
        swap under one name is held after it under the other.
        """
        for swap in self.buffer.swaps:
            comes, goes = swap.live and not swap.other_live, swap.other_live and not swap.live
            self.add(swap.start, RECV if comes else TOUCH)  # so that what has to be put ahead is put before all of it
            self.add(swap.nodes[1], SEND if goes else TOUCH)

    # --- accesses --------------------------------------------------------------------------------------------------

    def touches(self) -> str:
        dead_tests = self.free_tests.nodes | self.lazy.keys()
        wrappers = self.wrappers.union(*(d.wrappers for d in self.deallocations))
        mallocs = frozenset(self.buffer.carrier.allocations)
        exchanged = {n for swap in self.buffer.swaps for n in (swap.start, *swap.nodes)}
        passed = {*self.by_node, *exchanged, *mallocs, *dead_tests, *self.early(), *self.initialiser()}
        for n in self.buffer.touches:
            node = self.program.graph.nodes[n]
            action = node.action
            if n in passed or node.frame in wrappers:
                continue
            if isinstance(action, ins.Birth) or self.sets_carrier(action) or self.lifts(node):
                continue
            effect = self.effect(n)
            if effect is not None and effect.mpi is not None and effect.mpi.request is not None:
                self.pending_kept = True
            problem = self.touch(n)
            if problem:
                return problem
        return ""

    def initialiser(self) -> set[int]:
        """An array's first contents, which nobody reads: they go with its declaration (``double in[80] = {0};``)."""
        variable = self.program.variables[self.buffer.carrier.variable]
        if self.buffer.carrier.kind != "array" or variable.init is None or has_effect(variable.init):
            return set()
        graph = self.program.graph
        out = set()
        for n in self.buffer.touches:
            statement = graph.statement(graph.nodes[n])
            stmt = None if statement is None else statement.stmt
            declares = isinstance(stmt, ast.DeclStmt) and variable.key in stmt.variables
            if declares and isinstance(graph.nodes[n].action, ins.Store):
                out.add(n)
        return out

    def anew(self, n: int, stores: Sequence[int]) -> bool:
        """The node is of the local variable alone, and since the carrier was set, memory was asked for again."""
        node = self.program.graph.nodes[n]
        if not isinstance(node.action, (ins.Define, ins.Branch)):
            return False
        leaves = [leaf for o in operands_of(node.action) for leaf in parts_of(o) if not isinstance(leaf, ins.Op)]
        for a in (a for a in self.allocations if a.local):
            made = [m for m in self.buffer.carrier.allocations if self.program.graph.nodes[m].frame == node.frame]
            targets = {getattr(self.program.graph.nodes[m].action, "target", None) for m in made}
            own = all(
                isinstance(leaf, ins.Const) or leaf in targets or (isinstance(leaf, ins.Var) and leaf.key == a.local)
                for leaf in leaves
            )
            if made and own and leads(self.program.graph, stores, {n}, made) is None:
                return True
        return False

    def early(self) -> set[int]:
        """Where a local variable has the memory, and the carrier not yet (``t = malloc(n); t[0] = 1; *p = t;``)."""
        values, names = self.program.values, names_of(self.program)
        table = values.objects.table
        stores = [n for a in self.allocations if a.local for n in a.stores]
        given = {values.symbols.base(values.symbols.not_null(values.operands[m][-1])) for m in stores}
        out: set[int] = set()
        for n in self.buffer.touches if stores else ():
            if not any(n == m or names.follows(m, n) for m in stores) or self.anew(n, stores):
                found = self.touched(n)
                made = {at for o in found & given if o is not None for at in table[o].nodes}
                if len(found) == 1 and any(self.program.dominates(at, n) for at in made):
                    out.add(n)
        dominates, made_at = self.program.dominates, self.buffer.carrier.allocations
        for a in (a for a in self.allocations if a.inside):  # `if (posix_memalign(&p, …))` tests before it sets `p`
            behind = (n for n in self.tests_of(a) if any(dominates(m, n) for m in made_at))
            out.update(n for n in behind if not any(dominates(m, n) for m in a.stores))
        return out

    def touched(self, n: int) -> set[int]:
        """The objects of the buffer that a node accesses, or evaluates an address of."""
        values = self.program.values
        given = (*values.operands.get(n, ()), *values.args.get(n, ()))
        bases = {values.symbols.base(values.symbols.not_null(value)) for value in given}
        bases.update(o for o in self.objects if values.accesses.touches(n, (o,)))
        return {o for o in bases if o is not None and o in self.objects}

    def lifts(self, node: Node) -> bool:
        """The carrier's address is passed, which takes no buffer."""
        if not isinstance(node.action, Bind) or not self.buffer.lifted:
            return False
        values = self.program.values.operands.get(node.number, ())
        base = self.program.values.symbols.base
        passed = [key for key, value in zip(node.action.params, values, strict=True) if base(value) in self.objects]
        return all(key in self.buffer.lifted for key in passed)

    def sets_carrier(self, action: object) -> bool:
        """The carrier is set, or (a member of a struct) read."""
        carrier = self.buffer.carrier
        if not isinstance(action, ins.Define):
            return False
        if isinstance(action.target, ins.Temp):  # what is done with it comes next
            return action.value == ins.Var(carrier.variable) and carrier.variable in self.program.members
        return carrier.kind == "pointer" and action.target.key == carrier.variable

    def touch(self, n: int) -> str:
        if not self.buffer.carrier.rows:
            self.add(n, TOUCH)
            return ""
        values = self.program.values
        symbols = values.symbols
        found: list[Poly | None] = []
        for access in values.accesses.at(n):
            if access.object in self.objects:
                address = None if access.lo is None else self.address(access.object) + access.lo
                found.append(None if address is None else self.mentions.row(address))
        for value in values.operands.get(n, ()):
            if symbols.base(value) in self.objects:
                found.append(self.mentions.row(value))
        if not found or None in found:
            return self.which_row(n)
        for row in dict.fromkeys(found):
            self.add(n, TOUCH, row)
        return ""

    def which_row(self, n: int) -> str:
        """What is said of a node that may mean any of the buffers."""
        name = self.buffer.name.removesuffix("[…]")
        return f"could not show which of the pointers in `{name}` {line_of(names_of(self.program).span(n))} means"

    def address(self, o: int) -> Poly:
        return self.program.values.symbols.of("object", (o,), frozenset())

    # --- the sites -------------------------------------------------------------------------------------------------

    def use(self, use: Use) -> str:
        row: Poly | None = None
        if self.buffer.carrier.rows:
            values = self.program.values.args.get(use.node, ())
            row = self.mentions.row(values[use.argument]) if use.argument < len(values) else None
            if row is None:
                return self.which_row(use.node)
        if use.place not in self.converted:
            if not use.op.blocking or use.op.persistent:
                self.pending_kept = True
            self.add(use.node, TOUCH, row)
        elif use.op.replaces:
            self.add(use.node, TOUCH, row)  # it is there before the call, and again after it
        elif use.side == "recv" and use.place in self.buffer.replacing:
            self.add(use.node, REPLACE if use.op.blocking else IREPLACE, row)
        elif use.side == "send":
            both = any(u.node == use.node and u.side == "recv" and u.place in self.converted for u in self.buffer.uses)
            self.add(use.node, MAYSEND if self.errors_return and not both else SEND, row)
        else:
            self.add(use.node, RECV if use.op.blocking else IRECV, row)
        return ""

    def completed(self) -> None:
        """At tests that only keep NULL from being freed the receives are complete, where none is pending there.

        ``if (n > 0) MPI_Waitall(n, q, …);`` completes them on one of two ways; on the other one there are none.
        """
        tests = {n for n in self.free_tests.nodes if isinstance(self.program.graph.nodes[n].action, ins.Branch)}
        begun = [u for u in self.buffer.uses if u.side == "recv" and not u.op.blocking and u.place in self.converted]
        late = set[int]().union(*(pending_at(names_of(self.program), use, tests) for use in begun if tests))
        for n in sorted(tests - late) if begun else ():
            self.add(n, COMPLETE)

    def completions(self) -> None:
        """Calls that surely complete the requests of receives that convert."""
        symbols = self.program.values.symbols
        requests: dict[Poly, set[Poly | None]] = {}  # and the rows of the array that they are for
        for use in self.buffer.uses:
            if (
                use.side == "recv"
                and not use.op.blocking
                and use.place in self.converted
                and use.op.request is not None
            ):
                values = self.program.values.args.get(use.node, ())
                if use.op.request < len(values):
                    row = None if use.row is None else symbols.resolve(use.row)
                    requests.setdefault(symbols.resolve(values[use.op.request]), set()).add(row)
        arrays = {base for r in requests if (base := symbols.base(r)) is not None}
        if not arrays:
            return
        apart = all(symbols.offset(r).constant is not None for r in requests)
        for n in self.defs.calls:
            effect = self.effect(n)
            done = effect.mpi.completes if effect is not None and effect.mpi is not None else None
            values = self.program.values.args.get(n, ())
            if done is None or not done.definite or done.requests >= len(values):
                continue
            address = symbols.resolve(values[done.requests])
            if (address in requests and done.which == "one") or (
                symbols.base(address) in arrays and done.which == "all"
            ):
                row = next(iter(requests[address])) if len(requests.get(address, ())) == 1 and apart else None
                own = done.which == "one" and row is not None and row.constant is not None
                self.add(n, COMPLETE, row if own else None)
