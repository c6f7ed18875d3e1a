"""Sends with which the life of a block ends: nobody uses it afterwards, but to free it.

Such a block may be given away whatever it contains, and however its pointer came to it.  What the send sends is what is
there, so nothing need be known of how it was packed.  malloc becomes OPI_Malloc, calloc OPI_Calloc, free OPI_Free, in
their places, for all blocks of the pool (``blocks.py``): where a block is given the pointer is NULL after it, and
OPI_Free does nothing.

What is shown, for each copy of the send: on every way from it, until they are set anew, no name is used that may hold
the address of the block, but in a copy to another name.  The pointer that the call names may also be freed: it is NULL.
"""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.graph.graph import Bind, Lost, Node, Unbind
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import NEGATED
from opi_xform.ir.operands import null_test, zero_constant
from opi_xform.memory.poly import ONE, Poly
from opi_xform.ownership.last.blocks import Blocks, Pool, leaves_of
from opi_xform.ownership.liveness.equalities import Equal, Equalities, both
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.endings import ends
from opi_xform.ownership.model.inequalities import not_zero
from opi_xform.ownership.model.names import Name, operands
from opi_xform.record import dataclass
from opi_xform.values.facts import Facts, Known

Pair = tuple[Name, Name]  # in order
MOST_PAIRS = 3_000_000  # that are looked at


@dataclass(frozen=True, slots=True)
class State:
    """null: names that may hold what the call's pointer holds after it, NULL; stale: those that still hold the block's
    address.  equal: what numbers are equal to.
    """

    null: frozenset[Name]
    stale: frozenset[Name]
    equal: Equal

    def with_all(self, other: State) -> State:
        return State(self.null | other.null, self.stale | other.stale, both(self.equal, other.equal))


class LastSends:
    """The sends of one pool."""

    def __init__(
        self, program: Program, blocks: Blocks, pool: Pool, facts: Facts, supposed: set[int] | None = None
    ) -> None:
        """supposed: gets the tests of which it is supposed that the program ends where they find no memory."""
        self.program = program
        self.supposed = supposed
        self.graph = program.graph
        self.blocks = blocks
        self.names = blocks.names
        self.pool = pool
        self.facts = facts
        self.equalities = Equalities(program, blocks.names)
        self.made = {n for nodes in pool.allocating.values() for n in nodes}
        self.freed = {n for nodes in pool.freeing.values() for n in nodes}
        self.variables = {program.values.objects.table[o].variable for o in self.names.address_taken}
        self.guards: dict[int, Name] = {}  # branch -> the name that is freed where it is not NULL
        self.entered = {frame.call for frame in program.graph.frames}
        found = self.aliases() if self.uses_followed() else None
        self.understood = found is not None
        self.together = found or []

    # --- the whole program ---------------------------------------------------------------------------------------

    def holding(self, node: Node) -> Iterator[tuple[Name, bool, bool]]:
        """Holders that a node evaluates: whether as their very value, and whether what becomes of it is followed."""
        for frame, operand in operands(node):
            for leaf, exact, followed in leaves_of(operand):
                name = self.names.name(frame, leaf)
                if name in self.pool.holders:
                    assert name is not None
                    yield name, exact, followed

    def uses_followed(self) -> bool:
        """No address becomes a number or is compared, but with NULL where the program ends, or frees nothing then."""
        for node in self.graph.nodes:
            action = node.action
            if isinstance(action, ins.Load) and not self.pool.holders.isdisjoint(self.names.defined(node)):
                return False
            used = list(self.holding(node))
            if not used:
                continue
            if isinstance(action, ins.Branch):
                if not self.harmless(node):
                    return False
            elif (
                not all(followed for _, _, followed in used)
                or isinstance(action, ins.SwitchOn | ins.Escape)
                or (isinstance(action, ins.CallInstr) and not self.seen(node, action))
            ):
                return False
        return True

    def seen(self, node: Node, call: ins.CallInstr) -> bool:
        """What a call does with an address that it is given is in the graph, or in the tables."""
        if not isinstance(call.callee, ins.AddrFunc):
            return False
        return node.number in self.entered or call.callee.key not in self.program.functions

    def harmless(self, node: Node) -> bool:
        """A test whether a pointer is NULL, which matters only where there is no memory, and the program ends then; or
        one that keeps NULL from being freed.
        """
        assert isinstance(node.action, ins.Branch)
        tested, null = null_test(node.action.cond)
        found = list(leaves_of(tested))
        succs = self.graph.succs[node.block]
        if len(found) != 1 or not found[0][1] or len(succs) != 2:
            return False
        name = self.names.name(node.frame, found[0][0])
        if name not in self.pool.exact:
            return False
        without, there = (succs[0], succs[1]) if null else (succs[1], succs[0])
        if self.only_frees(there, without, name):
            self.guards[node.number] = name
            return True
        key: str | int = name[2] if name[0] == "t" else self.names.objects.table[name[1]].variable or ""
        if ends(self.program, {v for v in self.variables if v}, without, {(node.frame, key): 0}):
            return True
        if self.supposed is not None:
            self.supposed.add(node.number)
        return self.supposed is not None

    def only_frees(self, there: int, without: int, name: Name) -> bool:
        """A way on which the name's memory is freed, and nothing else is done, to where the other way comes, too."""
        end = self.onward(without)
        freed = False
        while (there := self.onward(there)) != end:
            if len(self.graph.succs[there]) != 1:
                return False
            for n in self.graph.blocks[there]:
                node = self.graph.nodes[n]
                if n in self.freed and not freed:
                    freed = [x for x, exact, _ in self.holding(node) if exact] == [name]
                    if not freed:
                        return False
                elif not freed or not self.is_set_to_null(node, name):
                    return False
            (there,) = self.graph.succs[there]
        return freed

    def is_set_to_null(self, node: Node, name: Name) -> bool:
        """The name itself: another variable would stay as it was where the block has been given away."""
        action = node.action
        if (
            not isinstance(action, ins.Define)
            or not zero_constant(action.value)
            or not isinstance(action.target, ins.Var)
        ):
            return False
        return ("v", self.program.values.objects.variable(node.frame, action.target.key), 0) == name

    def onward(self, block: int) -> int:
        """The first block from here on in which something happens."""
        seen = {block}
        while not self.graph.blocks[block] and len(self.graph.succs[block]) == 1:
            (block,) = self.graph.succs[block]
            if block in seen:
                break
            seen.add(block)
        return block

    # --- which names may hold one block --------------------------------------------------------------------------

    def aliases(self) -> list[frozenset[Pair]] | None:
        """By block of the graph: pairs of names that may hold addresses in the same block of memory at its start.

        None: there are too many.
        """
        # Not by dataflow.solver: the budget is one of pairs, and sets that are copied where ways meet took 1.2 to 1.3
        # times as long.
        budget = MOST_PAIRS
        before: list[set[Pair] | None] = [None] * len(self.graph.blocks)
        before[0] = set()
        work = [0]
        while work:
            block = work.pop()
            pairs = set(before[block] or ())
            for n in self.graph.blocks[block]:
                self.pass_on(self.graph.nodes[n], pairs)
            budget -= len(pairs) + len(self.graph.blocks[block])
            if budget < 0:
                return None
            for s in self.graph.succs[block]:
                known = before[s]
                if known is None:
                    before[s] = set(pairs)
                    work.append(s)
                elif not pairs <= known:
                    known |= pairs
                    work.append(s)
        return [frozenset(pairs or ()) for pairs in before]

    def pass_on(self, node: Node, pairs: set[Pair]) -> None:
        """What a node makes of the pairs."""
        targets = [name for name in self.names.defined(node) if name in self.pool.holders]
        if not targets:
            return
        behind: dict[Name, set[Name]] = {}  # by target: the names that hold before the node what it holds after it
        for target in targets:
            behind[target] = set(self.sources(node, target))
            behind[target] |= {b if a in behind[target] else a for a, b in pairs if {a, b} & behind[target]}
        pairs -= {pair for pair in pairs if not set(pair).isdisjoint(targets)}
        for i, target in enumerate(targets):
            pairs |= {_pair(target, x) for x in behind[target].difference(targets)}
            pairs |= {_pair(target, x) for x in targets[:i] if behind[target] & behind[x]}

    def sources(self, node: Node, target: Name) -> list[Name]:
        """The holders whose value a node may give to a name."""
        if node.number in self.made or isinstance(node.action, ins.Birth):
            return []
        if isinstance(node.action, Lost):
            return sorted(self.pool.holders)
        return [name for name, _, _ in self.blocks.given(node, target) if name in self.pool.holders]

    def with_it(self, n: int, name: Name) -> frozenset[Name]:
        """The other names that may hold the same block before node ``n``."""
        block = self.graph.nodes[n].block
        pairs = set(self.together[block])
        for m in self.graph.blocks[block]:
            if m == n:
                break
            self.pass_on(self.graph.nodes[m], pairs)
        return frozenset(b if a == name else a for a, b in pairs if name in (a, b))

    # --- after one send --------------------------------------------------------------------------------------------

    def used_after(self, n: int, name: Name, given: bool = True) -> int | None:
        """A node that may use the block that ``name`` holds at the send ``n``, after it; None: there is none.

        given: the name is NULL then.  Else it holds another block, and it is a receive (``fresh.py``).
        """
        # Not by dataflow.solver: a search from one node, which ends at the first use that it comes to.
        start = self.graph.nodes[n].block
        known = self.facts.at(start)
        nonzero = self.nonzero(start)
        begin = self.graph.blocks[start].index(n) + 1
        before: dict[int, State] = {}
        null = frozenset({name} if given else ())
        work = [(start, begin, State(null, self.with_it(n, name) - {name}, {}))]
        while work:
            block, begin, state = work.pop()
            for m in self.graph.blocks[block][begin:]:
                found = self.step(self.graph.nodes[m], state)
                if found is None:
                    return m
                state = found
            if not state.null and not state.stale:
                continue
            taken = self.taken(block, state)
            for i, s in enumerate(self.graph.succs[block]):
                if taken == (i != 0) or self.never(block, i == 0, known, nonzero):
                    continue
                old = before.get(s)
                new = state if old is None else old.with_all(state)
                if new != old:
                    before[s] = new
                    work.append((s, 0, new))
        return None

    def taken(self, block: int, state: State) -> bool | None:
        """Whether the condition at the end of a block holds, where that is known."""
        if len(self.graph.succs[block]) != 2 or not self.graph.blocks[block]:
            return None
        node = self.graph.nodes[self.graph.blocks[block][-1]]
        if not isinstance(node.action, ins.Branch):
            return None
        return self.equalities.taken(node.frame, node.action.cond, state.equal)

    def step(self, node: Node, state: State) -> State | None:
        """What a node makes of the names; None: it uses the block."""
        used = {name for name, _, _ in self.holding(node)} & (state.null | state.stale)
        if used:
            match node.action:
                case ins.Define() | Bind() | Unbind() | ins.ReturnInstr():
                    pass
                case ins.CallInstr() if node.number in self.freed:
                    if used & state.stale:
                        return None
                case ins.CallInstr() if self.names.entered(node):
                    pass  # what it is given the Bind gives
                case ins.Branch() if node.number in self.guards and not used & state.stale:
                    pass
                case _:
                    return None
        equal = self.equalities.step(node, state.equal)
        targets = [name for name in self.names.defined(node) if name in self.pool.holders]
        if not targets:
            return State(state.null, state.stale, equal)
        null, stale = set(state.null - set(targets)), set(state.stale - set(targets))
        for target in targets:
            given = [] if node.number in self.made else list(self.blocks.given(node, target))
            for source, exact, _ in given:
                if source in state.stale or (source in state.null and not exact):
                    stale.add(target)
                elif source in state.null:
                    null.add(target)
        return State(frozenset(null), frozenset(stale), equal)

    # --- ways that are not taken -----------------------------------------------------------------------------------

    def nonzero(self, block: int) -> frozenset[Poly]:
        """Numbers, always the same, that are not 0 where a block runs: those of comparisons that lead to it."""
        symbols = self.program.values.symbols
        out: set[Poly] = set()
        block = self.facts.guarded[block]
        while block:
            parent = self.program.nest.idom[block]
            found = self.program.values.conditions.get(self.graph.blocks[parent][-1])
            if found is not None and not found.unsigned:
                op = found.op if self.graph.succs[parent][0] == block else NEGATED[found.op]
                difference = symbols.resolve(found.left - found.right)
                if op == "!=":
                    out.update(not_zero(symbols, difference))
            block = self.facts.guarded[parent]
        return frozenset(p for p in out if not symbols.scope(p))

    def never(self, block: int, holds: bool, known: Known, nonzero: frozenset[Poly]) -> bool:
        """The way that is taken where a block's comparison holds (or does not) is not taken after the send."""
        succs = self.graph.succs[block]
        if len(succs) != 2 or not self.graph.blocks[block]:
            return False
        found = self.program.values.conditions.get(self.graph.blocks[block][-1])
        if found is None or found.unsigned:
            return False
        symbols = self.program.values.symbols
        difference = symbols.resolve(found.left - found.right)
        if symbols.scope(difference) or any(symbols.table[s].kind == "object" for s in difference.symbols()):
            return False
        return self.impossible(found.op if holds else NEGATED[found.op], difference, known, nonzero)

    def impossible(self, op: str, difference: Poly, known: Known, nonzero: frozenset[Poly]) -> bool:
        if op == "==":
            if difference in nonzero or -difference in nonzero:
                return True
            return known.nonneg(difference - ONE) or known.nonneg(-difference - ONE)
        if op == "!=":
            return known.nonneg(difference) and known.nonneg(-difference)
        larger = {"<": difference, "<=": difference - ONE, ">": -difference, ">=": -difference - ONE}
        return known.nonneg(larger[op])


def _pair(a: Name, b: Name) -> Pair:
    return (a, b) if a < b else (b, a)
