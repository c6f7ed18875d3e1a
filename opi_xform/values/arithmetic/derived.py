"""Arrays of numbers of which each element is the same sum of elements of other arrays: ``w[g] = hi[g] - lo[g] + 1``.

A loop with a counter sets them, one element in each turn, by one statement.  What that reads of the others, and the
element itself, nobody changes after it but for other turns, which are about other elements.  So once the loop has been
left, an element that it has set is that sum; one that it has not set holds nothing that a program may read (C11 J.2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from opi_xform.calls.calls import Calls
from opi_xform.graph.graph import Lost, Node
from opi_xform.graph.loops import Loop, LoopNest
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import parts_of
from opi_xform.ir.types import Type
from opi_xform.memory.objects import UNKNOWN
from opi_xform.memory.poly import Poly
from opi_xform.record import dataclass

Cell = tuple[str, str]  # an array and what it is indexed by


@dataclass(frozen=True, slots=True)
class Derived:
    """``constant`` and multiples of the same elements of other arrays, where ``loop`` has been left."""

    loop: Loop
    constant: int
    terms: tuple[tuple[int, int], ...]
    type: Type

    def holds(self, block: int, idom: Sequence[int]) -> bool:
        """The loop has been left at a block."""
        at = block
        while at > self.loop.header:
            at = idom[at]
        return at == self.loop.header and block not in self.loop.blocks

    def is_element(self, offset: Poly, type_: Type) -> bool:
        """What is read there is an element."""
        same = (type_.kind, type_.size, type_.signed) == (self.type.kind, self.type.size, self.type.signed)
        plain = not (type_.volatile or type_.atomic or type_.boolean)
        return same and plain and all(c % (self.type.size or 1) == 0 for _, c in offset.terms)


def derived(calls: Calls, nest: LoopNest, variables: Mapping[str, ast.Variable]) -> dict[int, Derived]:
    """By the array."""
    return {} if nest.irreducible else _Finder(calls, nest, variables).run()


class _Finder:
    """One use: ``run``."""

    def __init__(self, calls: Calls, nest: LoopNest, variables: Mapping[str, ast.Variable]) -> None:
        self.calls = calls
        self.graph = calls.graph
        self.nest = nest
        self.variables = variables

    def run(self) -> dict[int, Derived]:
        out: dict[int, Derived] = {}
        for o, stores in self.stores.items():
            for n in stores if o not in self.spoiled else ():
                found = self.sum_of(o, n)
                if found is not None:
                    out[o] = found
        return out

    @cached_property
    def stores(self) -> dict[int, list[int]]:
        """What may store to each array of numbers that belongs to one run of a function, and begins with nothing."""
        out: dict[int, list[int]] = {}
        for node in self.graph.nodes:
            if isinstance(node.action, ins.Store):
                for o in self.calls.pts.operand(node.frame, node.action.address):
                    if self.is_array(o):
                        out.setdefault(o, []).append(node.number)
        return out

    def is_array(self, o: int) -> bool:
        info = self.calls.objects.table[o]
        var = self.variables.get(info.variable or "")
        t = info.type
        if info.kind != "variable" or var is None or t is None or not t.is_array or t.elem is None:
            return False
        elem = t.elem
        plain = elem.kind == "int" and elem.signed and elem.size in (4, 8) and not (elem.volatile or elem.atomic)
        own = var.kind == "local" and info.frame >= 0
        own = own or (
            var.kind == "extern" and not var.declarators
        )  # what stands for one (``buffers/number_tables.py``)
        return plain and own and var.init is None

    @cached_property
    def spoiled(self) -> frozenset[int]:
        """What may be changed where no store shows it."""
        pts, graph = self.calls.pts, self.graph
        out = set(pts.reachable(frozenset({UNKNOWN}))) | set(self.calls.foreign) | set(self.calls.summarised.anything)
        for node in graph.nodes:
            match node.action:
                case ins.CopyBytes(target=target):
                    out |= pts.operand(node.frame, target)
                case ins.CallInstr(args=args) if node.number not in graph.followed:
                    out = out.union(*(pts.operand(node.frame, e) for e in args))
                case Lost(call=call):
                    out = out.union(*(pts.operand(node.frame, e) for e in call.args))
                case ins.Escape(values=values):
                    out = out.union(*(pts.operand(node.frame, e) for e in values))
                case _:
                    pass
        return frozenset(out)

    # --- one statement ------------------------------------------------------------------------------------------------

    def sum_of(self, o: int, n: int) -> Derived | None:
        """The sum that a store sets each element to."""
        node = self.graph.nodes[n]
        of = self.nest.of[node.block]
        cell = self.cell(node)
        assert isinstance(node.action, ins.Store)
        if of < 0 or cell is None or self.calls.pts.operand(node.frame, _address(node)) != {o}:
            return None
        loop = self.nest.loops[of]
        found = self.linear(node, cell[1])
        if found is None or not found[1] or not self.once(loop):
            return None
        constant, terms = found
        arrays = {self.calls.objects.variable(node.frame, key): factor for key, factor in terms.items()}
        if o in arrays or not self.spoiled.isdisjoint(arrays) or not all(map(self.is_array, arrays)):
            return None
        mine = [m for m in self.stores[o] if m != n]
        theirs = [m for a in arrays for m in self.stores.get(a, ())]
        step = self.step(loop, node.frame, cell[1])
        if step is None or self.within_turn(loop, step) & {n, *mine, *theirs}:
            return None
        later, here = self.reached(n, -1), self.within_turn(loop, n)
        for m in (*mine, *theirs):
            if m in here or (m in later and not self.of_turn(loop, m, node.frame, cell[1])):
                return None
        if any(not self.of_turn(loop, m, node.frame, cell[1]) or self.passes(loop, m, n) for m in mine):
            return None
        return Derived(loop, constant, tuple(sorted(arrays.items())), node.action.type)

    def cell(self, node: Node) -> Cell | None:
        """``array[g]``, of which a node loads or stores all."""
        match node.action:
            case ins.Load(address=address, type=t) | ins.Store(address=address, type=t):
                pass
            case _:
                return None
        match address:
            case ins.PtrAdd(base=ins.AddrVar(key=key), index=ins.Var(key=counter), scale=scale):
                elem = self.variables[key].type.elem
                same = elem is not None and elem.kind == t.kind and elem.size == t.size == scale
                return (key, counter) if same and elem is not None and elem.signed == t.signed else None
            case _:
                return None

    def linear(self, node: Node, counter: str) -> tuple[int, dict[str, int]] | None:
        """What a store's value is: a constant, and how often each array's element is in it."""
        store = node.action
        assert isinstance(store, ins.Store)
        block = self.graph.blocks[node.block]
        before = [self.graph.nodes[n] for n in block[: block.index(node.number)]]
        constant, terms = 0, dict[str, int]()
        work = [(store.value, 1)]
        while work:
            e, sign = work.pop()
            match e:
                case ins.Const(value=value):
                    constant += sign * value
                case ins.Op(op="cast", args=(ins.Const(value=value),)):
                    constant += sign * value
                case ins.Op(op=("+" | "-") as op, args=(left, right), type=t, unsigned=False) if _like(t, store.type):
                    work += [(left, sign), (right, sign if op == "+" else -sign)]
                case ins.Temp():
                    made = [b for b in before if isinstance(b.action, (ins.Load, ins.Define)) and b.action.target == e]
                    if len(made) != 1 or not _like(_type_of(made[0]), store.type):
                        return None
                    if isinstance(made[0].action, ins.Define):
                        work.append((made[0].action.value, sign))
                        continue
                    cell = self.cell(made[0])
                    since = block[block.index(made[0].number) : block.index(node.number)]
                    quiet = all(isinstance(self.graph.nodes[n].action, (ins.Load, ins.Define)) for n in since)
                    if cell is None or cell[1] != counter or not quiet:
                        return None
                    terms[cell[0]] = terms.get(cell[0], 0) + sign
                case _:
                    return None
        return constant, {key: factor for key, factor in terms.items() if factor}

    # --- the loop -----------------------------------------------------------------------------------------------------

    def once(self, loop: Loop) -> bool:
        """The loop is never entered a second time, and one run of its function is all there is."""
        frame = self.graph.nodes[self.graph.blocks[loop.header][0]].frame if self.graph.blocks[loop.header] else -1
        if frame < 0 or self.graph.frames[frame].function in self.graph.levels:
            return False
        seen: set[int] = set()
        work = [outside for _, outside in loop.exits]
        while work:
            block = work.pop()
            if block == loop.header:
                return False
            if block not in seen:
                seen.add(block)
                work += self.graph.succs[block]
        return True

    def step(self, loop: Loop, frame: int, counter: str) -> int | None:
        """The one node that sets the counter in the loop: it moves on, in each turn."""
        var = self.variables[counter]
        plain = var.kind in ("local", "param") and var.type.kind == "int" and var.type.signed
        if not plain or counter in self.addressed:
            return None
        defines = [
            node
            for block in sorted(loop.blocks)
            for node in (self.graph.nodes[n] for n in self.graph.blocks[block])
            if isinstance(node.action, ins.Define) and node.action.target == ins.Var(counter) and node.frame == frame
        ]
        if len(defines) != 1 or self.nest.of[defines[0].block] != loop.number:
            return None
        action = defines[0].action
        assert isinstance(action, ins.Define)
        match action.value:
            case ins.Op(op=("+" | "-"), args=(ins.Var(key=key), ins.Const(value=value)), unsigned=False):
                moves = key == counter and value != 0
            case _:
                moves = False
        each = all(self.nest.dominates(defines[0].block, latch) for latch in loop.latches)
        return defines[0].number if moves and each else None

    @cached_property
    def addressed(self) -> Collection[str]:
        """Variables whose address is taken, or which a store may set."""
        return {x.key for e in self.operands() for x in parts_of(e) if isinstance(x, (ins.AddrVar, ins.AddrLocal))}

    def operands(self) -> Iterator[ins.Operand]:
        for node in self.graph.nodes:
            for name in ("value", "address", "target", "source", "cond", "callee"):
                e = getattr(node.action, name, None)
                if isinstance(e, (ins.Op, ins.PtrAdd, ins.AddrVar, ins.AddrLocal)):
                    yield e
            call = getattr(node.action, "call", None)
            yield from getattr(node.action, "args", ())
            yield from getattr(node.action, "values", ())
            yield from getattr(call, "args", ()) if isinstance(node.action, Lost) else ()

    def of_turn(self, loop: Loop, m: int, frame: int, counter: str) -> bool:
        """A store is to the element of the turn that it is in."""
        node = self.graph.nodes[m]
        cell = self.cell(node)
        return node.block in loop.blocks and node.frame == frame and cell is not None and cell[1] == counter

    def within_turn(self, loop: Loop, n: int) -> set[int]:
        """The nodes after one in the same turn."""
        return self.reached(n, loop.header)

    def reached(self, n: int, stop: int) -> set[int]:
        """The nodes after one, without those that are only reached through a block."""
        blocks, nodes = self.graph.blocks, self.graph.nodes
        out = set(blocks[nodes[n].block][blocks[nodes[n].block].index(n) + 1 :])
        seen: set[int] = set()
        work = list(self.graph.succs[nodes[n].block])
        while work:
            block = work.pop()
            if block != stop and block not in seen:
                seen.add(block)
                out |= set(blocks[block])
                work += self.graph.succs[block]
        return out

    def passes(self, loop: Loop, m: int, n: int) -> bool:
        """A turn may end, or lead out of the loop, after node m without node n."""
        blocks, nodes = self.graph.blocks, self.graph.nodes
        if n in blocks[nodes[m].block][blocks[nodes[m].block].index(m) + 1 :]:
            return False
        seen: set[int] = set()
        work = list(self.graph.succs[nodes[m].block])
        while work:
            block = work.pop()
            if block == loop.header or block not in loop.blocks:
                return True
            if block not in seen and n not in blocks[block]:
                seen.add(block)
                work += self.graph.succs[block]
        return False


def _address(node: Node) -> ins.Operand:
    assert isinstance(node.action, ins.Store)
    return node.action.address


def _type_of(node: Node) -> Type:
    assert isinstance(node.action, (ins.Load, ins.Define))
    return node.action.type


def _like(one: Type, other: Type) -> bool:
    """Whole numbers of the same size, with a sign."""
    whole = all(t.kind == "int" and t.signed and not t.boolean for t in (one, other))
    return whole and one.size == other.size
