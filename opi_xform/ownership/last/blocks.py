"""Blocks of memory, and the local pointers that hold their addresses.

``chunk = merge(chunk, n, other, m)`` gives one pointer several blocks, one after the other, and one block several
pointers.  A pool is a set of calls of malloc, calloc and free that belong together: what these frees get comes from
these allocations, and what these allocations give goes to no other free.  The address of a block of a pool is nowhere
but in local pointers (``holders``), so that what becomes of it can be followed from name to name.
"""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.graph.graph import Bind, Lost, Node, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.allocation.also_run import run_besides, run_unwatched
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.names import Name, Names, names_of, operands
from opi_xform.record import dataclass

Call = tuple[str, int]  # a call in the source: its file, its place
MOST_HOLDERS = 200

Leaf = tuple[ins.Operand, bool, bool]
"""A leaf of an operand; whether the operand is its very value; whether it is followed what becomes of an address."""


def leaves_of(operand: ins.Operand) -> Iterator[Leaf]:
    """The tips of a tree.  A number that is made of an address, and a comparison, are not followed."""
    stack: list[Leaf] = [(operand, True, True)]
    while stack:
        item, exact, followed = stack.pop()
        if isinstance(item, ins.Op):
            copied = item.op == "cast" and item.type.is_pointer
            stack.extend((a, exact and copied, followed and copied) for a in item.args)
        elif isinstance(item, ins.PtrAdd):
            stack.append((item.base, False, followed))
            stack.append((item.index, False, False))
        else:
            yield item, exact, followed


@dataclass(frozen=True, slots=True)
class Pool:
    """objects: of the allocations.  allocating, freeing: the calls in the source, each with its nodes in the graph.

    holders: names that may hold an address in a block; exact: those that hold nothing but beginnings of blocks.
    owners: the copies of functions that call themselves each activation of which has a pool of its own.
    """

    objects: frozenset[int]
    allocating: dict[Call, tuple[int, ...]]
    freeing: dict[Call, tuple[int, ...]]
    holders: frozenset[Name]
    exact: frozenset[Name]
    owners: frozenset[int] = frozenset()


class Blocks:
    """One use per program: ``pool``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.names: Names = names_of(program)
        self.points_to = program.points_to
        self.outside = program.points_to.reachable(frozenset({UNKNOWN}))
        self.changing = _changing(program)
        self.allocations: dict[Call, list[int]] = {}
        self.frees: dict[Call, list[int]] = {}
        self.freed: dict[Call, frozenset[int]] = {}
        for node in self.graph.nodes:
            if isinstance(node.action, ins.CallInstr) and not self.names.entered(node):
                self.call(node, node.action)

    def call(self, node: Node, call: ins.CallInstr) -> None:
        effect = self.names.effect(call)
        if effect is None:
            return
        where = (call.call.span.file, call.call.span.begin)
        if effect.allocates is not None:
            self.allocations.setdefault(where, []).append(node.number)
        spec = effect.frees
        if spec is not None:
            self.frees.setdefault(where, []).append(node.number)
            given = call.args[spec.arg : spec.arg + 1]
            found = frozenset().union(*(self.points_to.operand(node.frame, a) for a in given))
            self.freed[where] = self.freed.get(where, frozenset()) | found

    def pool(self, targets: frozenset[int]) -> Pool | None:
        """The smallest pool with these objects; None where there is none that is understood."""
        objects: set[int] = set()
        allocating: set[Call] = set()
        freeing: set[Call] = set()
        work = sorted(targets)
        while work:
            o = work.pop()
            if o in objects:
                continue
            info = self.program.values.objects.table[o]
            if info.kind != "heap" or o in self.outside or o in self.changing:
                return None
            objects.add(o)
            for n in info.nodes:
                where = self.plainly(n, "malloc", "calloc")
                if where is None:
                    return None
                allocating.add(where)
                work += [self.program.values.objects.heap(m) for m in self.allocations[where]]
            for where, freed in self.freed.items():
                if o in freed and where not in freeing:
                    freeing.add(where)
                    work += freed
        if any(self.plainly(n, "free") is None for where in freeing for n in self.frees[where]):
            return None
        if self.points_to.kept(frozenset(objects)):
            return None
        found = frozenset(objects)
        holders = self.holders(found)
        if holders is None:
            return None
        made = {where: tuple(self.allocations[where]) for where in sorted(allocating)}
        gone = {where: tuple(self.frees[where]) for where in sorted(freeing)}
        exact = self.exact(holders, {n for nodes in made.values() for n in nodes})
        pool = Pool(found, made, gone, holders, exact, self.owners(found))
        nodes = (n for calls in (made, gone) for found in calls.values() for n in found)
        return pool if all(self.at_each_level(pool, n) for n in nodes) else None

    def owners(self, objects: frozenset[int]) -> frozenset[int]:
        """Those of all objects alike: no activation has anything of another one's pool (``calls/own.py``)."""
        found = {self.program.values.owners.get(o, frozenset[int]()) for o in objects}
        return found.pop() if len(found) == 1 else frozenset()

    def at_each_level(self, pool: Pool, n: int) -> bool:
        """What is shown of a pool where node ``n`` runs is so at all levels of the functions around it."""
        frame = self.graph.nodes[n].frame
        function = self.graph.frames[frame].function
        if function not in run_unwatched(self.program) and function not in self.graph.levels:
            return True
        above: set[int] = set()
        while frame >= 0:
            if self.graph.frames[frame].function in self.graph.cyclic and frame not in pool.owners:
                return False
            above.add(frame)
            frame = self.graph.frames[frame].parent
        return bool(pool.owners) and pool.owners <= above and function not in run_besides(self.program)

    def plainly(self, n: int, *names: str) -> Call | None:
        """The node calls one of these functions of the library by its name."""
        if n >= len(self.graph.nodes):
            return None
        action = self.graph.nodes[n].action
        if not isinstance(action, ins.CallInstr) or not isinstance(action.callee, ins.AddrFunc):
            return None
        if action.callee.key not in names or not isinstance(action.call.callee, ast.FuncRef):
            return None
        return action.call.span.file, action.call.span.begin

    # --- names -------------------------------------------------------------------------------------------------------

    def held(self, name: Name) -> frozenset[int]:
        """What a name may point to."""
        if name[0] == "t":
            return self.points_to.operand(name[1], ins.Temp(name[2]))
        info = self.names.objects.table[name[1]]
        return frozenset() if info.variable is None else self.points_to.variable(info.frame, info.variable)

    def holders(self, objects: frozenset[int]) -> frozenset[Name] | None:
        """The names that may hold an address of theirs; None where one is no plain local pointer."""
        out: set[Name] = set()
        for name in {**self.names.uses, **self.names.defs}:
            if not self.held(name) & objects:
                continue
            if name[0] == "v" and not self.plain(name[1]):
                return None
            out.add(name)
        return frozenset(out) if len(out) <= MOST_HOLDERS else None

    def plain(self, o: int) -> bool:
        """A local pointer that only its name sets."""
        info = self.names.objects.table[o]
        variable = self.program.variables.get(info.variable or "")
        if variable is None or variable.kind not in ("local", "param") or variable.key in self.program.members:
            return False
        t = variable.type
        return t.is_pointer and not (t.volatile or t.atomic) and o not in self.names.address_taken

    def exact(self, holders: frozenset[Name], made: set[int]) -> frozenset[Name]:
        """Those that are set to nothing but what allocations returned, to one another, and to what points elsewhere."""
        out = set(holders)
        changed = True
        while changed:
            changed = False
            for name in sorted(out):
                if not all(self.copies(n, name, out, holders, made) for n in self.names.defs.get(name, ())):
                    out.discard(name)
                    changed = True
        return frozenset(out)

    def copies(self, n: int, name: Name, exact: set[Name], holders: frozenset[Name], made: set[int]) -> bool:
        """What node ``n`` puts into a name is no place inside a block."""
        if n in made:
            return True
        node = self.graph.nodes[n]
        if isinstance(node.action, (Lost, ins.CallInstr, ins.Load)):
            return False
        return all(whole and source in exact for source, whole, _ in self.given(node, name) if source in holders)

    def given(self, node: Node, name: Name) -> Iterator[tuple[Name, bool, bool]]:
        """The names whose values a node gives to a name; whether it is the very value; whether that is followed."""
        for frame, value in self.set_to(node, name):
            for leaf, exact, followed in leaves_of(value):
                source = self.names.name(frame, leaf)
                if source is not None:
                    yield source, exact, followed

    def set_to(self, node: Node, name: Name) -> list[tuple[int, ins.Operand]]:
        """The operands, each with its frame, that a node makes a name's value of."""
        match node.action:
            case Bind(caller=caller, params=params, args=args):
                pairs = zip(params, args, strict=False)
                return [(caller, a) for key, a in pairs if self.names.name(node.frame, ins.Var(key)) == name]
            case Unbind(callee=callee, value=value):
                return [] if value is None else [(callee, value)]
            case ins.Define(value=value):
                return [(node.frame, value)]
            case ins.CallInstr() | Lost():
                return operands(node)
            case _:
                return []


def _changing(program: Program) -> frozenset[int]:
    """Blocks whose pointers change places (``ownership/swaps.py``).

    Each may be freed by the other name then, which the graph does not show.
    """
    objects, points_to = program.values.objects, program.points_to
    keys = {key for e in program.exchanges for key in (e.first, e.second)}
    places = (o for key in sorted(keys) for o in objects.by_name.get(key, ()))
    return frozenset().union(*(points_to.contents((o,)) for o in places))
